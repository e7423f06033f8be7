import type { Ender } from "../../../src/clock.js";

/** What waits for one signal: a function, or several. A listener without a closure. */
class Waiters {
  readonly #signal: Ender;
  #calls: (() => void) | Set<() => void> | null = null;

  constructor(signal: Ender) {
    this.#signal = signal;
    signal.addEventListener("abort", this, { once: true });
  }

  add(fn: () => void): void {
    if (this.#calls === null) this.#calls = fn;
    else if (this.#calls instanceof Set) this.#calls.add(fn);
    else this.#calls = new Set([this.#calls, fn]);
  }

  remove(fn: () => void): void {
    if (this.#calls instanceof Set) {
      this.#calls.delete(fn);
      if (this.#calls.size > 0) return;
    } else if (this.#calls !== fn) {
      return;
    }
    this.#calls = null;
    if (waiting.get(this.#signal) !== this) return;
    waiting.delete(this.#signal);
    this.#signal.removeEventListener("abort", this);
  }

  handleEvent(): void {
    waiting.delete(this.#signal);
    const calls = this.#calls;
    if (calls instanceof Set) for (const call of calls) call();
    else calls?.();
  }
}

const waiting = new WeakMap<Ender, Waiters>();

/**
 * Calls `fn` when `signal` aborts; returns what stops that. One listener for each signal, however many requests wait for
 * it: Node warns of a leak at the eleventh.
 */
export function onAbort(signal: Ender, fn: () => void): () => void {
  let waiters = waiting.get(signal);
  if (waiters === undefined) waiting.set(signal, (waiters = new Waiters(signal)));
  waiters.add(fn);
  return () => waiters.remove(fn);
}
