import type { Clock, Instant } from "./clock.js";

/**
 * Until when something holds: one limit for each clock, passed as soon as either clock says so. Two plain numbers, so
 * that asking costs no object. Test: deadline.test.ts.
 */
export class Deadline {
  /** Limit by the monotonic clock, ms. */
  mono = Number.NEGATIVE_INFINITY;
  /** Limit by the wall clock, ms. */
  wall = Number.NEGATIVE_INFINITY;

  /** Moves to `from` + `span` ms, unless that is earlier (proofs may be answered out of order). */
  extend(from: Instant, span: number): void {
    if (from.mono + span <= this.mono) return;
    this.mono = from.mono + span;
    this.wall = from.wall + span;
  }

  /** Milliseconds left; 0 or less when it has passed. */
  remaining(clock: Clock): number {
    return Math.min(this.mono - clock.mono(), this.wall - clock.wall());
  }

  /** Whether it has not passed yet. */
  holds(clock: Clock): boolean {
    return clock.mono() < this.mono && clock.wall() < this.wall;
  }

  /** A copy that does not move with this one. */
  frozen(): Deadline {
    const copy = new Deadline();
    copy.mono = this.mono;
    copy.wall = this.wall;
    return copy;
  }
}
