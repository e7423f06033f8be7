import { type Clock, instant } from "../../../src/clock.js";
import type { Call, Connection } from "./zookeeper-client-call.js";
import type { ConnectionManager, ManagerRequest } from "./zookeeper-client-package.js";

const LAST_XID = 0x7fffffff;

/** A request as the package's manager takes it. */
export class Sending implements ManagerRequest {
  readonly header: { xid: number; readonly type: number };
  readonly payload = null;
  readonly call: Call;
  readonly #manager: ConnectionManager;
  readonly #clock: Clock;
  readonly #connection: Connection;

  constructor(call: Call, manager: ConnectionManager, clock: Clock, connection: Connection) {
    this.header = { xid: 0, type: call.exchange.frame.readInt32BE(8) };
    this.call = call;
    this.#manager = manager;
    this.#clock = clock;
    this.#connection = connection;
  }

  /** Asked for when it is written. */
  toBuffer(): Buffer {
    const { call } = this;
    const { frame } = call.exchange;
    if (this.#manager.xid >= LAST_XID) this.#manager.xid = 1;
    call.sentAt = instant(this.#clock);
    call.exchange.written?.(this.#connection, call.sentAt);
    frame.writeInt32BE(this.header.xid, 4);
    return frame;
  }
}
