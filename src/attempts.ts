import type { Clock } from "./clock.js";
import { timedOut } from "./errors.js";

/**
 * The calls under way on one session: each gets a signal of its own, which aborts when its time is up, when the caller
 * does not want it any more, or when the session is over. (A set, not listeners on one signal: with ten thousand waits
 * each removal would walk a list of ten thousand.)
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #pending = new Set<AbortController>();
  #over: { readonly reason: unknown } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts everything under way and everything to come. */
  end(reason: unknown): void {
    this.#over ??= { reason };
    for (const controller of [...this.#pending]) controller.abort(reason);
  }

  /** Runs `call`; `ms` bounds it (Infinity: a wait), `signal` is the caller's own. */
  async run<T>(what: string, ms: number, signal: AbortSignal | null, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#over) throw this.#over.reason;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const forward = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", forward, { once: true });
    const timer = ms === Number.POSITIVE_INFINITY ? null : this.#clock.after(ms, () => controller.abort(timedOut(what, ms)));
    this.#pending.add(controller);
    try {
      // The race is for a store that forgets an abort: nothing here may hang on it.
      return await Promise.race([call(controller.signal), rejection(controller.signal)]);
    } finally {
      timer?.cancel();
      this.#pending.delete(controller);
      signal?.removeEventListener("abort", forward);
    }
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
