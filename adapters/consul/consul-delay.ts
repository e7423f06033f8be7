import { type Clock, elapsed, type Instant, instant } from "../../src/clock.js";

/** Before its end, ms: refusals by lock-delay come before raft and cost the server nothing. */
const EARLY = 2;
const LONGEST_STEP = 100;

/**
 * When to try a lock again that is under lock-delay. Nothing tells when that ends. It began when the holder's session ended, which
 * its key told: one probe, one sleep to just before the end, then small steps.
 */
export class Delay {
  readonly #clock: Clock;
  readonly #delay: number;
  #began: Instant | null = null;
  #step = EARLY;

  /** `delay`: of the sessions, ms. */
  constructor(clock: Clock, delay: number) {
    this.#clock = clock;
    this.#delay = delay;
  }

  /** The process that may have held the lock has just gone. */
  freed(): void {
    this.#began = instant(this.#clock);
    this.#step = EARLY;
  }

  over(): void {
    this.#began = null;
    this.#step = EARLY;
  }

  /** The lock was refused. Returns the ms to wait. */
  refused(): number {
    const left = this.#began === null ? 0 : this.#delay - elapsed(this.#clock, this.#began);
    if (left > 2 * EARLY) return left - EARLY;
    // Whoever comes late does not know when it began.
    const step = this.#began === null ? Math.min(this.#delay / 10, LONGEST_STEP) : this.#step;
    this.#step = Math.min(2 * this.#step, LONGEST_STEP);
    return Math.max(step, EARLY);
  }
}
