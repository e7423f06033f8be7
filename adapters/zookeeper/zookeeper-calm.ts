import type { Clock } from "../../src/clock.js";

/** ms */
const CALM = 5;

/** When a session's elections have nothing urgent to ask: what can wait must not keep thousands of seats from changing hands. */
export class Calm {
  readonly #clock: Clock;
  #busyAt = Number.NEGATIVE_INFINITY;
  #coming: Promise<void> | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something urgent is asked now. */
  disturb(): void {
    this.#busyAt = this.#clock.mono();
  }

  /** Resolves when nothing urgent has been asked for 5 ms. One timer, however many wait. */
  comes(): Promise<void> {
    return (this.#coming ??= this.#wait());
  }

  async #wait(): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => this.#clock.after(CALM, resolve));
      if (this.#clock.mono() - this.#busyAt >= CALM) break;
    }
    this.#coming = null;
  }
}
