import type { Socket } from "node:net";
import { FrameSplitter, type GrantedSession, type OpcodeName, parseConnectResponse, parseRequest, type Request } from "./proxy-frames.js";
import { Lane, type LaneRules } from "./proxy-lane.js";

/** What a link asks and tells its proxy. */
export interface LinkHost {
  readonly framed: boolean;
  readonly up: LaneRules;
  readonly down: LaneRules;
  /** A request has come from the client: what is to become of it. */
  requested(opcode: Request["opcode"]): Fate;
  /** A server has granted a session. */
  granted(session: GrantedSession): void;
  /** How many bytes of the next frame of the server may pass before the link ends; undefined: all. */
  nextReply(): number | undefined;
  /** The first bytes of a connection, as they shall go to the server. */
  rewrite(first: Buffer): Buffer;
  closed(link: Link): void;
}

export interface Fate {
  readonly drop: "request" | "reply" | null;
  readonly thenCut: boolean;
  /** Called when it has been dropped. */
  readonly done: () => void;
}

/** One connection of a client, and the one to the server that goes with it. */
export class Link {
  readonly up: Lane;
  readonly down: Lane;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #host: LinkHost;
  readonly #doomed = new Map<number, Fate>();
  #ended = false;

  constructor(client: Socket, server: Socket, host: LinkHost) {
    this.#client = client;
    this.#server = server;
    this.#host = host;
    const destroy = () => this.destroy();
    this.up = new Lane(this.#server, host.up, destroy);
    this.down = new Lane(client, host.down, destroy);
    this.#read(client, this.up, (frame, first) => this.#request(frame, first));
    this.#read(this.#server, this.down, (frame, first) => this.#reply(frame, first));
  }

  /** Whether something that was sent on it has been swallowed. */
  get lost(): boolean {
    return this.up.lost || this.down.lost;
  }

  destroy(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.up.clear();
    this.down.clear();
    this.#client.destroy();
    this.#server.destroy();
    // A reply that has not come yet is lost as well.
    for (const fate of this.#doomed.values()) fate.done();
    this.#doomed.clear();
    this.#host.closed(this);
  }

  #read(from: Socket, lane: Lane, frame: (frame: Buffer, first: boolean) => void): void {
    const splitter = new FrameSplitter(this.#host.framed);
    let first = true;
    from.setNoDelay(true);
    from.on("data", (chunk) => {
      for (const part of splitter.push(chunk)) {
        if (this.#ended) return;
        if (splitter.raw) lane.push(first && from === this.#client ? this.#host.rewrite(part) : part);
        else frame(part, first);
        first = false;
      }
    });
    from.on("end", () => lane.push("end"));
    from.on("error", () => {});
    from.on("close", (failed) => {
      if (failed) lane.push("destroy");
      if (this.#client.destroyed && this.#server.destroyed) this.destroy();
    });
  }

  #request(frame: Buffer, first: boolean): void {
    const { xid, opcode } = first ? { xid: HANDSHAKE, opcode: "connect" as OpcodeName } : parseRequest(frame);
    const fate = this.#host.requested(opcode);
    if (fate.drop === "reply") this.#doomed.set(xid, fate);
    if (fate.drop === "request") {
      if (fate.thenCut) this.up.push("destroy");
      fate.done();
    } else {
      this.up.push(frame);
    }
  }

  #reply(frame: Buffer, first: boolean): void {
    const xid = first ? HANDSHAKE : frame.readInt32BE(4);
    const session = first ? parseConnectResponse(frame) : null;
    if (session) this.#host.granted(session);
    const fate = this.#doomed.get(xid);
    if (fate) {
      this.#doomed.delete(xid);
      if (fate.thenCut) this.down.push("destroy");
      fate.done();
      return;
    }
    const bytes = this.#host.nextReply();
    this.down.push(bytes === undefined ? frame : frame.subarray(0, bytes));
    if (bytes !== undefined) this.down.push("destroy");
  }
}

/** A number that no client uses, for the frames that have none. */
const HANDSHAKE = -1_000_000;
