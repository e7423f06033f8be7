/*
 * What is not promised, first. Two processes may both believe that they lead: while one of them is paused (until its
 * first look at the clock), and for up to one proof interval after somebody took its seat away by force. The fence token
 * is there for that: hand it to whatever you write to, and let that reject a lower one than it has seen.
 */
import { Candidacy } from "./candidacy.js";
import { StoppedError } from "./errors.js";
import { type ElectorEvents, Events } from "./events.js";
import { inspect } from "./inspect.js";
import { Lead, type Work } from "./lead.js";
import { type ElectorOptions, type Settings, settingsOf } from "./options.js";
import type { Reign } from "./reign.js";
import type { ElectorState } from "./states.js";
import type { Leader } from "./store.js";
import type { Term } from "./term.js";

export interface WaitOptions {
  /** Ends the wait; the promise rejects with its reason. */
  signal?: AbortSignal;
}

/**
 * A candidate in one election. Use either `lead(work)` or `start()` with events. Never wait for `stop()` inside the work or
 * inside a listener whose promise holds the seat: `stop()` waits for both.
 */
export class Elector {
  readonly election: string;
  readonly id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly #settings: Settings;
  readonly #events: Events;
  #candidacy: Candidacy | null = null;
  #running: Promise<Error | null> | null = null;
  #lead: Lead<unknown> | null = null;

  /** Throws a {@link ConfigError} for a bad option, before anything is sent. */
  constructor(options: ElectorOptions) {
    this.#settings = settingsOf(options);
    this.election = this.#settings.election;
    this.id = this.#settings.card.id;
    this.metadata = this.#settings.card.metadata;
    this.#events = new Events((error, event) => {
      const what = `listener of "${event}" failed`;
      // One of `warning` that always fails would be told of itself for ever.
      if (event === "warning") this.#settings.logger.error({ election: this.election, err: error }, what);
      else this.#candidacy?.warn(error, what);
    });
  }

  get state(): ElectorState {
    return this.#candidacy?.state ?? "idle";
  }

  /** Asks the clock, at each call. */
  get isLeader(): boolean {
    return this.#candidacy?.reign?.valid ?? false;
  }

  /** The present term while it is valid; else null. */
  get term(): Term | null {
    const reign = this.#candidacy?.reign;
    return reign?.valid ? reign : null;
  }

  /**
   * Begins to stand, and stands again after every loss, until `stop()` or an error that no further try cures: `stopped` carries
   * it (without a listener for that it is a process warning). Throws a TypeError if it stands already.
   */
  start(): void {
    void this.#run(null).then((error) => {
      if (error && !this.#events.has("stopped")) process.emitWarning(error);
    });
  }

  /**
   * Stands, runs `work` whenever elected, waits for it, and withdraws. If the work returns or throws while its term goes
   * on, so does this. If the term ends first, the candidate stands again once the work has settled. After `stop()` it resolves
   * with what the interrupted work returned; after an abort of `signal` it rejects with its reason. It always settles.
   */
  async lead<T>(work: Work<T>, options: WaitOptions = {}): Promise<T | undefined> {
    if (typeof work !== "function") throw new TypeError(`work: expected a function, got ${typeof work}`);
    const { signal } = options;
    signal?.throwIfAborted();
    const lead = new Lead(work, () => this.#candidacy as Candidacy);
    const running = this.#run(lead as Lead<unknown>);
    const candidacy = this.#candidacy;
    const onAbort = () => candidacy?.stop("stopped");
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const error = await running;
      const value = lead.settle(error);
      signal?.throwIfAborted();
      return value;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Drains the term, waits for its work, withdraws, and resolves when nothing is left at the store. Idempotent. */
  async stop(): Promise<void> {
    this.#candidacy?.stop("stopped");
    await this.#running;
  }

  /** Ends the term, once its work has settled, and stands again at the tail. Does nothing when not leading. */
  resign(): void {
    this.#candidacy?.reign?.drain("resigned");
  }

  /** The present term, or the next one if it drains. Rejects with a {@link StoppedError} when the elector stops first. */
  elected(options: WaitOptions = {}): Promise<Term> {
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { term } = this;
    if (term && !this.#candidacy?.reign?.drained) return Promise.resolve(term);
    if (this.state === "stopped") return Promise.reject(new StoppedError("the elector has stopped: call start() first"));
    return new Promise((resolve, reject) => {
      const done = () => {
        offElected();
        offStopped();
        signal?.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        done();
        reject(signal?.reason);
      };
      const offElected = this.on("elected", function elected(next) {
        done();
        resolve(next);
      });
      const offStopped = this.on("stopped", function stopped({ error }) {
        done();
        reject(new StoppedError("the elector stopped before it was elected", { cause: error }));
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Who leads, as the store shows it to an observer. Works in every state. */
  async leader(options: WaitOptions = {}): Promise<Leader | null> {
    return (await this.#inspect(options)).leader;
  }

  /** How many stand before this candidate: 0 is the leader; null when it does not stand. (By id.) */
  async position(options: WaitOptions = {}): Promise<number | null> {
    const at = (await this.#inspect(options)).queue.findIndex(({ id }) => id === this.id);
    return at < 0 ? null : at;
  }

  /** Adds a listener; returns what removes it. Adding it twice has no effect. */
  on<E extends keyof ElectorEvents>(event: E, listener: ElectorEvents[E]): () => void {
    return this.#events.on(event, listener, false);
  }

  once<E extends keyof ElectorEvents>(event: E, listener: ElectorEvents[E]): () => void {
    return this.#events.on(event, listener, true);
  }

  off<E extends keyof ElectorEvents>(event: E, listener: ElectorEvents[E]): void {
    this.#events.off(event, listener);
  }

  /** As `off`, under the name that `events.once(elector, …)` of Node uses. */
  removeListener<E extends keyof ElectorEvents>(event: E, listener: ElectorEvents[E]): void {
    this.off(event, listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #run(lead: Lead<unknown> | null): Promise<Error | null> {
    // A listener of `stopped` may start again.
    if (this.#running && this.state !== "stopped")
      throw new TypeError(`the elector of "${this.election}" stands already: call stop() first, or make another one`);
    this.#lead = lead;
    const candidacy = new Candidacy(this.#settings, this.#events, this.state, (term: Reign) => this.#lead?.begin(term));
    this.#candidacy = candidacy;
    const running = candidacy.run().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  #inspect(options: WaitOptions) {
    const { store, election, clock } = this.#settings;
    return inspect(store, election, { clock, ...options });
  }
}
