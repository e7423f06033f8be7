import type { Clock, Timer } from "../../src/clock.js";
import type { BlockingQuery, ConsulClient, Found } from "./client/consul-wire.js";

/** Longest wait of one query, ms: a server that is frozen meanwhile leaves it blind for no longer. */
const WAIT = 10_000;
/** Between queries that bring nothing, ms; doubled each time. */
const PAUSE = 50;
const LONGEST_PAUSE = 1000;

export interface PollPort {
  /** What is there now. Throwing is a fault of ours. */
  found(found: Found): void;
  /** The index fell: a restored store, or another server that lags. All that was concluded from it is to be asked again. */
  fell(): void;
}

/**
 * One blocking query after the other on a key, or on all that begins with it. It never ends by itself. An index that falls starts from 0
 * (the rules of Consul's documentation on blocking queries); whatever fails, and whatever returns early without news, is repeated after a pause.
 */
export class Poll {
  readonly #client: ConsulClient;
  readonly #clock: Clock;
  readonly #what: Pick<BlockingQuery, "key" | "recurse">;
  readonly #port: PollPort;
  #index: number;
  #pause = 0;
  #timer: Timer | null = null;
  #query: AbortController | null = null;
  #closed = false;

  /** `index`: what is known already; 0: nothing. */
  constructor(client: ConsulClient, clock: Clock, what: Pick<BlockingQuery, "key" | "recurse">, index: number, port: PollPort) {
    this.#client = client;
    this.#clock = clock;
    this.#what = what;
    this.#index = index;
    this.#port = port;
    this.#askSoon();
  }

  /** Asks anew, by a fresh query: the one that is open may be blind. */
  reopen(): void {
    if (this.#closed || this.#query === null) return;
    this.#query.abort(REOPENED);
    this.#ask();
  }

  /** Asks what is there now, whatever is known. */
  refresh(): void {
    this.#index = 0;
    this.reopen();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#query?.abort(CLOSED);
  }

  /** Once what the answer has set off is done: whoever has become leader by it does not wait for the making of the next request. */
  #askSoon(): void {
    process.nextTick(() => {
      if (!this.#closed && this.#query === null) this.#ask();
    });
  }

  #ask(): void {
    const query = new AbortController();
    this.#query = query;
    const sent = this.#clock.mono();
    const index = this.#index;
    this.#client.query({ ...this.#what, index, wait: WAIT }, query.signal).then(
      (found) => {
        if (this.#query !== query || this.#closed) return;
        this.#query = null;
        // A query that returns at once, without news, would spin.
        const idle = found.index === index && this.#clock.mono() - sent < WAIT / 2;
        this.#pause = idle ? Math.min(Math.max(2 * this.#pause, PAUSE), LONGEST_PAUSE) : 0;
        this.#index = found.index < index ? 0 : Math.max(1, found.index);
        if (found.index < index) this.#port.fell();
        this.#port.found(found);
        this.#again();
      },
      () => {
        if (this.#query !== query || this.#closed) return;
        this.#query = null;
        this.#pause = Math.min(Math.max(2 * this.#pause, PAUSE), LONGEST_PAUSE);
        this.#again();
      },
    );
  }

  #again(): void {
    if (this.#closed) return;
    if (this.#pause === 0) return this.#askSoon();
    this.#timer = this.#clock.after(this.#pause * (0.5 + this.#clock.random() / 2), () => this.#ask());
  }
}

const REOPENED = new Error("asked anew");
const CLOSED = new Error("not needed any more");
