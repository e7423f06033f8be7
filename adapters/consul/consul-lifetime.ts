import type { Ender } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";

/** How long a session lives, as we know it. What serves it ends with it. */
export class Lifetime {
  readonly #controller = new AbortController();
  /** A set: a signal walks a list for each of ten thousand waits that leaves it. */
  readonly #listeners = new Set<() => void>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get over(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Throws why it is over, once it is. */
  check(): void {
    if (this.over) throw this.#controller.signal.reason;
  }

  end(why: string): void {
    if (this.over) return;
    this.#controller.abort(new StoreError("session-ended", why));
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Calls `listener` at the end. Returns what forgets it. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** For calls that only the end of the session ends. */
export const NEVER: Ender = { aborted: false, reason: undefined, addEventListener: () => {}, removeEventListener: () => {} };

/** Hands in what settles a promise; returns what cleans up when it has settled, in whatever way. */
export type Begin<T> = (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void;

/** A promise that `begin` settles, or the abort of `signal`, or the end of `lifetime`, whichever comes first. */
export function waiting<T>(lifetime: Lifetime, signal: Ender, begin: Begin<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (lifetime.over) return reject(lifetime.signal.reason);
    if (signal.aborted) return reject(signal.reason);
    let settled = false;
    let cleanUp: (() => void) | null = null;
    const settle = () => {
      settled = true;
      forget();
      signal.removeEventListener("abort", onAbort);
      cleanUp?.();
    };
    const fail = (error: unknown) => {
      if (settled) return;
      settle();
      reject(error);
    };
    const onAbort = () => fail(signal.reason);
    const forget = lifetime.onEnd(() => fail(lifetime.signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    cleanUp = begin((value) => {
      if (settled) return;
      settle();
      resolve(value);
    }, fail);
    if (settled) cleanUp();
  });
}
