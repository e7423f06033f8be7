import type { Clock } from "./clock.js";

/** How long to wait before the next try: a random part of base · 2^n, at most `cap` (full jitter), n = tries since the last reset. */
export class Backoff {
  readonly #clock: Clock;
  readonly #base: number;
  readonly #cap: number;
  #tries = 0;

  /** `base` and `cap` in ms. */
  constructor(clock: Clock, base: number, cap: number) {
    this.#clock = clock;
    this.#base = base;
    this.#cap = cap;
  }

  next(): number {
    const ceiling = Math.min(this.#cap, this.#base * 2 ** Math.min(this.#tries++, 30));
    return this.#clock.random() * ceiling;
  }

  reset(): void {
    this.#tries = 0;
  }
}
