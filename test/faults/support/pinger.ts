import { connect, type Socket } from "node:net";
import { connectRequest } from "../../support/expire-session.js";
import { FrameSplitter, OPCODES, parseConnectResponse } from "../../support/proxy-frames.js";
import { PATIENCE, within } from "../../support/wait-for.js";

const PING_XID = -2;

/** Opens a session on a bare socket, for pings only. */
export async function connectPinger(port: number): Promise<Pinger> {
  const socket = connect({ port, host: "127.0.0.1" });
  const pinger = new Pinger(socket);
  await within(pinger.opened, PATIENCE, `a session on port ${port}`);
  return pinger;
}

/** A client that sends pings and nothing else. */
export class Pinger {
  readonly opened: Promise<void>;
  readonly #socket: Socket;
  #answers = 0;
  #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    const splitter = new FrameSplitter(true);
    this.opened = new Promise((resolve, reject) => {
      let isOpen = false;
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        for (const frame of splitter.push(chunk)) {
          if (!isOpen && parseConnectResponse(frame)) resolve();
          else if (frame.readInt32BE(4) === PING_XID) this.#answered();
          isOpen = true;
        }
      });
    });
    socket.write(connectRequest());
  }

  get answers(): number {
    return this.#answers;
  }

  /** Resolves when it is answered. Rejects after a second. */
  ping(): Promise<void> {
    const frame = Buffer.alloc(12);
    frame.writeInt32BE(8, 0);
    frame.writeInt32BE(PING_XID, 4);
    frame.writeInt32BE(OPCODES.ping, 8);
    this.#socket.write(frame);
    return within(new Promise<void>((resolve) => this.#waiting.push(resolve)), 1000, "a ping is answered");
  }

  dispose(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #answered(): void {
    this.#answers++;
    this.#waiting.shift()?.();
  }
}
