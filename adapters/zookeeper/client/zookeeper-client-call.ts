import type { Ender, Instant } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import { onAbort } from "./zookeeper-client-abort.js";
import type { FrameReader } from "./zookeeper-client-records.js";
import type { Watches } from "./zookeeper-client-watches.js";
import type { ProofRecord } from "./zookeeper-proofs.js";

/** What a request may use of the connection that it goes out on. */
export interface Connection {
  readonly proofs: ProofRecord;
  readonly watches: Watches;
}

/** One request, encoded, and how its reply is read. */
export interface Exchange<T> {
  /** The whole frame; its transaction id is put in when it is written. */
  readonly frame: Buffer;
  /** The moment before the frame is handed to the socket. */
  written?(connection: Connection, at: Instant): void;
  /** `error`: as the server numbers it, 0 for none. Throws what the request rejects with. */
  read(error: number, reply: FrameReader, connection: Connection): T;
}

/** One request on its way: settles once, by the reply, by the end of its connection, or by its signal. */
export class Call<T = unknown> {
  readonly exchange: Exchange<T>;
  readonly promise: Promise<T>;
  /** The moment before it was handed to the socket. */
  sentAt: Instant | undefined;
  /** The connection that it was sent on. */
  carrier: { suspect(why: StoreError, sentAt: number): void } | undefined;
  readonly #signal: Ender;
  readonly #stopListening: () => void;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;
  #settled = false;

  /** `aborted` is called after the promise was rejected because `signal` aborted; that must not be so yet. */
  constructor(exchange: Exchange<T>, signal: Ender, aborted: () => void) {
    this.exchange = exchange;
    this.#signal = signal;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve as (value: unknown) => void;
      this.#reject = reject;
    });
    this.#stopListening = onAbort(signal, () => {
      this.#settle(() => this.#reject(signal.reason));
      aborted();
    });
  }

  /**
   * The reply has come. One that nobody waits for any more changes nothing. Returns what the call rejected with, if it did. Throws,
   * and has settled nothing, if the reply cannot be read.
   */
  answer(error: number, reply: FrameReader, connection: Connection): unknown {
    if (this.#settled) return undefined;
    try {
      const value = this.exchange.read(error, reply, connection);
      this.#settle(() => this.#resolve(value));
      return undefined;
    } catch (refusal) {
      if (!(refusal instanceof StoreError)) throw refusal;
      this.fail(refusal);
      return refusal;
    }
  }

  /** No reply will come. The reason of an aborted signal goes first: it may be what ended the connection. */
  fail(error: unknown): void {
    this.#settle(() => this.#reject(this.#signal.aborted ? this.#signal.reason : error));
  }

  #settle(settle: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#stopListening();
    settle();
  }
}

/** Whether the session is over with this error; every other one is only the connection's. */
export function endsSession(error: StoreError): boolean {
  return error.code === "session-ended" || error.code === "auth";
}
