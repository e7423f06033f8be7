import type { Clock, Ender, Timer } from "./clock.js";
import { timedOut } from "./errors.js";
import { Halt } from "./halt.js";

/**
 * The calls under way on one session: each gets a signal of its own, which aborts when its time is up, when the caller
 * does not want it any more, or when the session is over. (A set, not listeners on one signal: with ten thousand waits
 * each removal would walk a list of ten thousand.)
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #pending = new Set<Attempt>();
  /** Attempts that wait for their turn, in order. */
  readonly #queue = new Set<Attempt>();
  #running = 0;
  #over: { readonly reason: unknown } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts everything under way and everything to come. */
  end(reason: unknown): void {
    this.#over ??= { reason };
    for (const attempt of [...this.#pending]) attempt.abort(reason);
  }

  /** A wait of any length. `signal` is the caller's own. */
  wait<T>(signal: Ender | null, call: (signal: Ender) => Promise<T>): Promise<T> {
    const attempt = this.#make(signal, call);
    attempt?.begin();
    return this.#promised(attempt, signal);
  }

  /** An attempt that does not wait for its turn: proofs, and what stands alone. `ms` bounds it. */
  urgent<T>(what: string, ms: number, signal: Ender | null, call: (signal: Ender) => Promise<T>): Promise<T> {
    const attempt = this.#make(signal, call);
    if (attempt) this.#begin(attempt, what, ms);
    return this.#promised(attempt, signal);
  }

  /**
   * An attempt that waits for its turn: so many run at once that none is late only because thousands began together.
   * `patience` is asked, when its turn has come, for the ms that bound it.
   */
  run<T>(what: string, patience: () => number, signal: Ender | null, call: (signal: Ender) => Promise<T>): Promise<T> {
    const attempt = this.#make(signal, call);
    if (!attempt) return this.#promised(attempt, signal);
    attempt.turn = () => {
      this.#running++;
      attempt.ended = () => {
        this.#running--;
        this.#next();
      };
      const ms = patience();
      // Asking may have ended it: nothing of it is sent then.
      if (this.#pending.has(attempt)) this.#begin(attempt, what, ms);
    };
    attempt.ended = () => void this.#queue.delete(attempt);
    this.#queue.add(attempt);
    this.#next();
    return this.#promised(attempt, signal);
  }

  /** Null: refused at once. */
  #make(signal: Ender | null, call: (signal: Ender) => Promise<unknown>): Attempt | null {
    return this.#over || signal?.aborted ? null : new Attempt(this.#pending, signal, call);
  }

  #promised<T>(attempt: Attempt | null, signal: Ender | null): Promise<T> {
    return attempt ? (attempt.promise as Promise<T>) : Promise.reject(this.#over ? this.#over.reason : signal?.reason);
  }

  #begin(attempt: Attempt, what: string, patience: number): void {
    // Node keeps a list for each length of timer: a few are enough for thousands.
    const ms = patience > 2 * GRAIN ? patience - (patience % GRAIN) : patience;
    attempt.timer = this.#clock.after(ms, () => attempt.abort(timedOut(what, ms)));
    attempt.begin();
  }

  #next(): void {
    if (this.#over) return;
    for (const attempt of this.#queue) {
      if (this.#running >= AT_ONCE) return;
      this.#queue.delete(attempt);
      attempt.turn();
    }
  }
}

/** Enough to fill transactions of a hundred operations, few enough to be answered in a small part of a session's life. */
const AT_ONCE = 256;

/** ms */
const GRAIN = 128;

const nothing = () => {};

/** One call. It settles by itself when it is aborted: nothing may hang on a store that forgets an abort. */
class Attempt {
  readonly promise: Promise<unknown>;
  timer: Timer | null = null;
  /** Called when its turn has come. */
  turn: () => void = nothing;
  /** Called when it has settled. */
  ended: () => void = nothing;
  readonly #call: (signal: Ender) => Promise<unknown>;
  readonly #halt = new Halt();
  readonly #pending: Set<Attempt>;
  readonly #caller: Ender | null;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;

  constructor(pending: Set<Attempt>, caller: Ender | null, call: (signal: Ender) => Promise<unknown>) {
    this.#call = call;
    this.#pending = pending;
    this.#caller = caller;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    pending.add(this);
    caller?.addEventListener("abort", this, { once: true });
  }

  begin(): void {
    let answer: Promise<unknown>;
    try {
      answer = this.#call(this.#halt);
    } catch (error) {
      answer = Promise.reject(error);
    }
    answer.then(
      (value) => {
        this.#done();
        this.#resolve(value);
      },
      (error) => {
        this.#done();
        this.#reject(error);
      },
    );
  }

  /** The caller's signal has aborted (as its listener: no closure for each of ten thousand waits). */
  handleEvent(): void {
    this.abort(this.#caller?.reason);
  }

  abort(reason: unknown): void {
    this.#done();
    this.#halt.abort(reason);
    this.#reject(reason);
  }

  #done(): void {
    if (!this.#pending.delete(this)) return;
    this.timer?.cancel();
    this.ended();
    this.#caller?.removeEventListener("abort", this);
  }
}
