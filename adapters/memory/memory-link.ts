import { type Clock, type Ender, instant } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import { Answers } from "./memory-answers.js";
import { Channel } from "./memory-channel.js";
import type { Fault, MemoryCall } from "./memory-faults.js";
import type { MemoryServer } from "./memory-server.js";
import { Wait } from "./memory-watches.js";

/** What befalls a client's connections. */
export interface Network {
  /** One way, ms. */
  latency: number;
  /** Nothing passes. */
  blocked: boolean;
  /** The process is gone: nothing passes ever again. */
  crashed: boolean;
  holdsRequests: boolean;
  holdsReplies: boolean;
  /** Since which version the replica that serves this client is cut off from the other servers; null: it is not. */
  strandedAt: bigint | null;
  /** How many versions reads lag behind. */
  lag: bigint;
  next(call: MemoryCall): Fault | undefined;
}

/** Calls that a replica answers by itself. All others need the other servers. */
const LOCAL: ReadonlySet<MemoryCall> = new Set([
  "touch",
  "look",
  "moved",
  "unseated",
  "prepare",
  "leader",
  "queue",
  "changed",
  "elections",
  "survey",
]);

/** One connection: requests and replies in order, and whatever can happen to them. */
export class Link {
  readonly clock: Clock;
  readonly answers: Answers;
  readonly #server: MemoryServer;
  readonly #network: Network;
  readonly #requests: Channel;
  readonly #replies: Channel;
  readonly #pending = new Set<(error: unknown) => void>();
  readonly #waits = new Set<Wait>();
  #dead: StoreError | null = null;
  /** Nothing older than this is shown to this client. */
  #seen = 0n;

  constructor(server: MemoryServer, network: Network, clock: Clock) {
    this.clock = clock;
    this.#server = server;
    this.#network = network;
    this.answers = new Answers(clock, server.gap);
    const latency = () => network.latency;
    this.#requests = new Channel(clock, { latency, held: () => network.holdsRequests, later: false });
    this.#replies = new Channel(clock, { latency, held: () => network.holdsReplies, later: true });
  }

  /** One attempt: `serve` runs at the server when the request arrives. `read`: answered by a replica alone. */
  call<T>(call: MemoryCall, signal: Ender, serve: () => T, read = LOCAL.has(call)): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.#dead) return reject(this.#dead);
      const at = instant(this.clock);
      const settle = (act: () => void) => {
        if (!this.#pending.delete(fail)) return;
        signal.removeEventListener("abort", onAbort);
        act();
      };
      const fail = (error: unknown) => settle(() => reject(error));
      const onAbort = () => fail(signal.reason);
      const answer = (value: T) => {
        this.answers.add(at);
        settle(() => resolve(value));
      };
      this.#pending.add(fail);
      signal.addEventListener("abort", onAbort, { once: true });
      if (this.#blocked) return;
      this.#requests.send(() => this.#arrive(call, read, serve, answer, fail));
    });
  }

  /**
   * Sets a watch and waits for it. `keys` runs at the server: what to watch, or null if it has happened already.
   */
  async watch(call: MemoryCall, signal: Ender, keys: () => readonly string[] | null): Promise<void> {
    const wait = new Wait();
    this.#waits.add(wait);
    try {
      await this.call(call, signal, () => {
        const watched = keys();
        if (watched === null) return this.tell(() => wait.fire());
        wait.arm(() => this.#server.watches.add(watched, () => this.tell(() => wait.fire())));
      });
      await wait.fired(signal);
    } finally {
      wait.release();
      this.#waits.delete(wait);
    }
  }

  /** The server tells something by itself. A replica that is cut off knows nothing new. */
  tell(deliver: () => void): void {
    const version = this.#server.version;
    if (this.#blocked || this.#network.strandedAt !== null) return;
    this.#replies.send(() => {
      this.saw(version);
      deliver();
    });
  }

  /** Which version a read shows now: what a replica has, but nothing older than what this client knows. */
  readable(): bigint {
    const { strandedAt, lag } = this.#network;
    const shown = (strandedAt ?? this.#server.version) - lag;
    this.saw(shown);
    return this.#seen;
  }

  /** From here on nothing older than `version` is shown to this client. */
  saw(version: bigint): void {
    if (version > this.#seen) this.#seen = version;
  }

  /** Whether the server that serves this client is cut off from the others. */
  get stranded(): boolean {
    return this.#network.strandedAt !== null;
  }

  /** Whether anything passes. */
  get served(): boolean {
    return !this.#dead && !this.#blocked && this.#server.running;
  }

  /** Lets what was held back go on. */
  pump(): void {
    this.#requests.pump();
    this.#replies.pump();
  }

  /** Whatever is under way is lost and nobody hears of it. */
  drop(): void {
    this.#requests.drop();
    this.#replies.drop();
  }

  /** The connection broke and is made anew: calls fail, watches fire, for nobody knows what was missed. */
  reconnect(): void {
    if (this.#blocked) return;
    this.drop();
    // A restored store counts its versions anew: what was seen before says nothing.
    if (this.#seen > this.#server.version) this.#seen = 0n;
    const error = new StoreError("connection-lost", "the connection broke");
    for (const fail of [...this.#pending]) fail(error);
    for (const wait of [...this.#waits]) wait.fire();
    this.answers.begin();
  }

  /** Nothing is sent or received any more. */
  die(error: StoreError): void {
    if (this.#dead) return;
    this.#dead = error;
    this.drop();
    for (const fail of [...this.#pending]) fail(error);
    for (const wait of [...this.#waits]) wait.fire();
  }

  get #blocked(): boolean {
    return this.#network.blocked || this.#network.crashed || this.#dead !== null;
  }

  #arrive<T>(call: MemoryCall, read: boolean, serve: () => T, answer: (value: T) => void, fail: (error: unknown) => void): void {
    const reply = (deliver: () => void) => {
      if (!this.#blocked) this.#replies.send(deliver);
    };
    if (!this.#server.running) {
      return reply(() => fail(new StoreError("unreachable", "the store is stopped")));
    }
    this.#server.count(call);
    const fault = this.#network.next(call);
    if (fault?.kind === "request-lost") return reply(() => fail(fault.error));
    // A write needs the other servers: while they are cut off nobody answers it.
    if (this.#network.strandedAt !== null && !read) return;
    let value: T;
    try {
      value = serve();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return reply(() => fail(error));
    }
    if (!fault) return reply(() => answer(value));
    if (fault.error) reply(() => fail(fault.error));
  }
}
