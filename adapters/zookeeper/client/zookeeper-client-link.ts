import { type Clock, type Instant, instant } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import type { Call, Connection } from "./zookeeper-client-call.js";
import { withoutChroot } from "./zookeeper-client-codec.js";
import { manage, type Resume } from "./zookeeper-client-manager.js";
import { type ConnectionManager, type NodeZooKeeperClient, STATE } from "./zookeeper-client-package.js";
import { Pulse } from "./zookeeper-client-pulse.js";
import { FrameReader } from "./zookeeper-client-records.js";
import { Sending } from "./zookeeper-client-sending.js";
import { FramedSocket } from "./zookeeper-client-socket.js";
import { Watches } from "./zookeeper-client-watches.js";
import { ZooKeeperError } from "./zookeeper-error.js";
import { ProofRecord } from "./zookeeper-proofs.js";
import type { ClientOptions } from "./zookeeper-wire.js";

const XID = { notification: -1, ping: -2, auth: -4 } as const;
/** Where the first frame has its read-only flag, if it has one. */
const READ_ONLY = 40;
/** Length, transaction id, zxid, error. */
const BEHIND_HEADER = 20;
/** How long a connection that may have opened a session nobody wants is kept to close it, ms. */
const FAREWELL = 250;

const nothing = () => {};

/**
 * One connection to one server, from the TCP connect to its end. The package's ConnectionManager lives as long: so
 * nothing of an earlier connection (half a frame, queued requests, watches) is left in it, it never reconnects, and
 * credentials are always its first packets.
 */
export class Link implements Connection {
  readonly server: string;
  readonly watches = new Watches();
  /** Resolves once the session is served here; rejects if it will not be. */
  readonly ready: Promise<void>;
  /** Resolves to the reason once the connection has ended. Never rejects. */
  readonly lost: Promise<StoreError>;
  /** Called when the connection has ended, before anybody whose request was pending can hear of it. */
  onLost: (why: StoreError) => void = () => {};
  readonly #clock: Clock;
  readonly #options: ClientOptions;
  readonly #resume: Resume | null;
  readonly #manager: ConnectionManager;
  readonly #socket: FramedSocket;
  readonly #closeFrame: Buffer;
  readonly #calls = new Set<Call>();
  #pulse: Pulse | undefined;
  #proofs: ProofRecord | undefined;
  #handshakeAt: Instant | undefined;
  #zxid: bigint;
  #heardAt = Number.NEGATIVE_INFINITY;
  #unansweredPings = 0;
  #unansweredAuths: number;
  #over = false;
  #farewell: Promise<void> = Promise.resolve();
  #setReady!: () => void;
  #setUnready!: (why: StoreError) => void;
  #setLost!: (why: StoreError) => void;

  constructor(pkg: NodeZooKeeperClient, clock: Clock, options: ClientOptions, server: string, resume: Resume | null, closeFrame: Buffer) {
    this.server = server;
    this.ready = new Promise((resolve, reject) => {
      this.#setReady = resolve;
      this.#setUnready = reject;
    });
    this.ready.catch(() => {});
    this.lost = new Promise((resolve) => (this.#setLost = resolve));
    this.#clock = clock;
    this.#options = options;
    this.#resume = resume;
    this.#closeFrame = closeFrame;
    this.#zxid = resume?.zxid ?? 0n;
    this.#unansweredAuths = options.auth.length;
    this.#manager = manage(pkg, options, resume, (bytes) => this.#socket.write(bytes));
    this.#socket = new FramedSocket(server, options.tls, {
      connected: () => this.#shakeHands(),
      frame: (frame) => (this.#proofs === undefined ? this.#welcomed(frame, pkg) : this.#received(frame)),
      heard: () => {
        this.#heardAt = this.#clock.mono();
        this.#pulse?.heard();
      },
      drained: () => this.#manager.onSocketDrain(),
      closed: (reason, cause, certificate) => this.destroy(this.#broken(reason, cause, certificate)),
    });
  }

  get over(): boolean {
    return this.#over;
  }

  get proofs(): ProofRecord {
    if (this.#proofs === undefined) throw new Error("the handshake is not over");
    return this.#proofs;
  }

  get resume(): Resume {
    const { sessionId, sessionPassword, sessionTimeout } = this.#manager;
    return { id: sessionId, password: sessionPassword, timeout: this.#resume?.timeout ?? sessionTimeout, zxid: this.#zxid };
  }

  /** Resolves when nothing of an ended connection is left. */
  get gone(): Promise<void> {
    return this.#farewell;
  }

  /** Sends a request. Only on a link that is ready and not over. */
  send(call: Call): void {
    this.#calls.add(call);
    call.carrier = this;
    this.#manager.queue(new Sending(call, this.#manager, this.#clock, this), nothing);
    this.#pulse?.sent();
  }

  /** Nobody waits any more for what is pending; the connection stays. */
  failPending(why: StoreError): void {
    for (const call of this.#calls) call.fail(why);
  }

  /**
   * An attempt that was sent at `sentAt` took too long. Replies come in order, so while they come the link is only busy: it
   * is given up when it was silent for the later half of the attempt. Looked at in the next turn, because after a stall of
   * this process timers come before what lies in the socket.
   */
  suspect(why: StoreError, sentAt: number): void {
    this.#clock.after(0, () => {
      const now = this.#clock.mono();
      if (now - this.#heardAt >= (now - sentAt) / 2) this.destroy(this.#broken(why.message, why));
    });
  }

  /** Ends the connection at once; everything pending on it fails with `why`. */
  destroy(why: StoreError): void {
    if (this.#over) return;
    this.#over = true;
    this.#pulse?.stop();
    const unwanted = this.#resume === null && this.#handshakeAt !== undefined && !this.#served;
    if (unwanted) this.#farewell = this.#socket.farewell(this.#closeFrame, this.#clock, FAREWELL);
    else this.#socket.destroy();
    this.#setUnready(why);
    this.#setLost(why);
    this.onLost(why);
    this.failPending(why);
    this.#calls.clear();
    this.watches.fireAll();
  }

  get #served(): boolean {
    return this.#proofs !== undefined && this.#unansweredAuths === 0;
  }

  #shakeHands(): void {
    this.#handshakeAt = instant(this.#clock);
    this.#manager.state = STATE.CONNECTING;
    this.#manager.onSocketConnected();
  }

  #welcomed(frame: Buffer, pkg: NodeZooKeeperClient): void {
    this.#manager.onSocketData(frame);
    const { state, sessionTimeout } = this.#manager;
    if (state === STATE.SESSION_EXPIRED)
      return this.destroy(new ZooKeeperError("SESSIONEXPIRED", `${this.server}: the session has expired`));
    if (frame[READ_ONLY] === 1) return this.destroy(this.#broken("serves only reads, for want of a quorum"));
    if (this.#resume !== null && sessionTimeout < this.#resume.timeout) {
      const text = `${this.server} grants ${sessionTimeout} ms to a session that had ${this.#resume.timeout}: no proof holds any more`;
      return this.destroy(new StoreError("session-ended", text));
    }
    this.#proofs = new ProofRecord(this.#handshakeAt as Instant, sessionTimeout);
    const silence = this.#options.readTimeout ?? (sessionTimeout * 2) / 3;
    this.#pulse = new Pulse(
      this.#clock,
      { ping: sessionTimeout / 3, silence },
      {
        sendPing: () => this.#sendPing(pkg),
        giveUp: () => this.destroy(this.#broken(`no answer within ${Math.round(silence)} ms`)),
        waiting: () => this.#manager.pendingQueue.length + this.#unansweredPings + this.#unansweredAuths > 0,
      },
    );
    if (this.#served) this.#setReady();
  }

  #received(frame: Buffer): void {
    const xid = frame.readInt32BE(4);
    const zxid = frame.readBigInt64BE(8);
    const error = frame.readInt32BE(16);
    if (xid === XID.ping) return void this.#unansweredPings--;
    if (xid === XID.auth) return this.#authenticated(error);
    if (zxid > this.#zxid) this.#zxid = zxid;
    const reader = new FrameReader(frame, BEHIND_HEADER);
    if (xid === XID.notification) return this.#notified(reader);
    const request = this.#manager.pendingQueue.shift()?.request;
    if (!(request instanceof Sending) || request.header.xid !== xid) return this.destroy(this.#broken("replies out of order"));
    this.#answered(request.call, error, reader);
  }

  /** Type, state of the session, path. */
  #notified(reader: FrameReader): void {
    const type = reader.int();
    reader.int();
    this.watches.notify(type, withoutChroot(reader.string(), this.#options.chroot));
  }

  #authenticated(error: number): void {
    if (error !== 0) {
      const schemes = this.#options.auth.map(({ scheme }) => scheme).join(", ");
      return this.destroy(new ZooKeeperError("AUTHFAILED", `${this.server} refuses the credentials (${schemes})`));
    }
    this.#unansweredAuths--;
    if (this.#served) this.#setReady();
  }

  #answered(call: Call, error: number, reader: FrameReader): void {
    if (call.sentAt !== undefined) this.proofs.answered(call.sentAt, this.#clock.mono());
    const refusal = call.answer(error, reader, this);
    this.#calls.delete(call);
    if (!(refusal instanceof ZooKeeperError)) return;
    if (refusal.zk === "SESSIONEXPIRED") this.destroy(refusal);
    if (refusal.zk === "SESSIONMOVED") this.destroy(this.#broken("the session has moved to another server", refusal));
  }

  #sendPing(pkg: NodeZooKeeperClient): void {
    const { XID_PING, OP_CODES, Request, protocol } = pkg.jute;
    this.#unansweredPings++;
    this.#manager.queue(new Request(new protocol.RequestHeader(XID_PING, OP_CODES.PING), null), nothing);
    this.#pulse?.sent();
  }

  #broken(reason: string, cause?: unknown, certificate = false): StoreError {
    if (!this.#served) return new StoreError(certificate ? "certificate" : "unreachable", `${this.server}: ${reason}`, { cause });
    return new ZooKeeperError("CONNECTIONLOSS", `connection to ${this.server} lost: ${reason}`, { cause });
  }
}
