import type { Clock, Timer } from "./clock.js";
import { timedOut } from "./errors.js";

/**
 * The calls under way on one session: each gets a signal of its own, which aborts when its time is up, when the caller
 * does not want it any more, or when the session is over. (A set, not listeners on one signal: with ten thousand waits
 * each removal would walk a list of ten thousand.)
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #pending = new Set<Attempt<unknown>>();
  #over: { readonly reason: unknown } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts everything under way and everything to come. */
  end(reason: unknown): void {
    this.#over ??= { reason };
    for (const attempt of [...this.#pending]) attempt.abort(reason);
  }

  /** Runs `call`; `ms` bounds it (Infinity: a wait), `signal` is the caller's own. */
  run<T>(what: string, ms: number, signal: AbortSignal | null, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#over) return Promise.reject(this.#over.reason);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const attempt = new Attempt<T>(this.#pending as Set<unknown>, signal);
    if (ms !== Number.POSITIVE_INFINITY) attempt.timer = this.#clock.after(ms, () => attempt.abort(timedOut(what, ms)));
    attempt.begin(call);
    return attempt.promise;
  }
}

/** One call. It settles by itself when it is aborted: nothing may hang on a store that forgets an abort. */
class Attempt<T> {
  readonly promise: Promise<T>;
  timer: Timer | null = null;
  readonly #controller = new AbortController();
  readonly #pending: Set<unknown>;
  readonly #caller: AbortSignal | null;
  #resolve!: (value: T) => void;
  #reject!: (reason: unknown) => void;

  constructor(pending: Set<unknown>, caller: AbortSignal | null) {
    this.#pending = pending;
    this.#caller = caller;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    pending.add(this);
    caller?.addEventListener("abort", this, { once: true });
  }

  begin(call: (signal: AbortSignal) => Promise<T>): void {
    let answer: Promise<T>;
    try {
      answer = call(this.#controller.signal);
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
    this.#controller.abort(reason);
    this.#reject(reason);
  }

  #done(): void {
    this.timer?.cancel();
    this.#pending.delete(this);
    this.#caller?.removeEventListener("abort", this);
  }
}
