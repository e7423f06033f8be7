import type { Clock, Timer } from "./clock.js";

/** Taken when this module loads, so that a test framework's fake timers do not stop a {@link ManualClock}. */
const nextTurn = setImmediate;

export interface ManualClockOptions {
  /** What `mono()` says at first, ms. Default 1000. */
  readonly mono?: number;
  /** What `wall()` says at first, ms since the Unix epoch. Default 2026-01-01T00:00:00Z. */
  readonly wall?: number;
  /** The same seed gives the same `random()` numbers. Default 1. */
  readonly seed?: number;
}

interface Pending {
  readonly clock: ManualClock;
  /** By the clock's own monotonic time. */
  readonly due: number;
  readonly order: number;
  readonly fn: () => void;
}

/** The time that several clocks share, and everything that waits for it. */
class Timeline {
  now = 0;
  readonly timers = new Set<Pending>();
  #order = 0;
  #busy: Promise<void> = Promise.resolve();

  add(clock: ManualClock, due: number, fn: () => void): Pending {
    const timer = { clock, due, order: this.#order++, fn };
    this.timers.add(timer);
    return timer;
  }

  /** Calls that overlap run one after the other. */
  inTurn(run: () => Promise<void>): Promise<void> {
    const turn = this.#busy.then(run);
    this.#busy = turn.catch(() => {});
    return turn;
  }

  /** Goes to `target` timer by timer; stops early once `enough()` holds. */
  async go(target: number, enough: () => boolean = () => false): Promise<void> {
    await settle();
    while (!enough()) {
      const timer = this.#next(target);
      if (!timer) break;
      this.timers.delete(timer);
      // A timer of a clock that stood still is overdue: it fires now, time does not go back.
      this.now = Math.max(this.now, timer.clock.timelineAt(timer.due));
      timer.fn();
      await settle();
    }
    if (!enough()) this.now = Math.max(this.now, target);
  }

  #next(target: number): Pending | undefined {
    let first: Pending | undefined;
    let firstAt = Number.POSITIVE_INFINITY;
    for (const timer of this.timers) {
      if (timer.clock.standsStill) continue;
      const at = timer.clock.timelineAt(timer.due);
      if (at > target) continue;
      if (at < firstAt || (at === firstAt && first && timer.order < first.order)) {
        first = timer;
        firstAt = at;
      }
    }
    return first;
  }
}

/** Lets every promise chain that can go on without time go on: one turn of the event loop drains them all. */
function settle(): Promise<void> {
  return new Promise((resolve) => nextTurn(resolve));
}

/**
 * A clock for tests: time moves only when the test says so. Timers fire in order of their due time, and between two of
 * them all promise chains settle. `process()` gives the clock of another process on the same time: each of them can
 * be paused, suspended or have its wall clock stepped, while time goes on for the others.
 */
export class ManualClock implements Clock {
  readonly #timeline: Timeline;
  readonly #random: () => number;
  /** Own monotonic time = time of the timeline + this. */
  #monoOffset: number;
  #wallOffset: number;
  #asleep = false;
  #paused = false;

  constructor(options: ManualClockOptions = {}, share?: ManualClock) {
    this.#timeline = share ? share.#timeline : new Timeline();
    this.#monoOffset = (options.mono ?? 1000) - this.#timeline.now;
    this.#wallOffset = (options.wall ?? Date.UTC(2026, 0, 1)) - this.#timeline.now;
    this.#random = seeded(options.seed ?? 1);
  }

  mono(): number {
    return this.#timeline.now + this.#monoOffset;
  }

  wall(): number {
    return this.#timeline.now + this.#wallOffset;
  }

  random(): number {
    return this.#random();
  }

  after(ms: number, fn: () => void): Timer {
    if (Number.isNaN(ms)) throw new RangeError("a timer needs a number of milliseconds, got NaN");
    const timer = this.#timeline.add(this, this.mono() + Math.max(0, ms), fn);
    return { cancel: () => void this.#timeline.timers.delete(timer) };
  }

  /** The clock of another process that lives in the same time. Its wall clock says the same as this one unless told otherwise. */
  process(options: ManualClockOptions = {}): ManualClock {
    return new ManualClock({ mono: this.mono(), wall: this.wall(), ...options }, this);
  }

  /** How many timers of this clock wait. */
  get pending(): number {
    let count = 0;
    for (const timer of this.#timeline.timers) if (timer.clock === this) count++;
    return count;
  }

  /** Lets `ms` milliseconds pass, for every process of this time, and fires what becomes due. */
  advance(ms: number): Promise<void> {
    return this.#timeline.inTurn(() => this.#timeline.go(this.#timeline.now + ms));
  }

  /** Advances, timer by timer, until `condition` holds; rejects if it still does not after `atMost` ms. */
  advanceUntil(condition: () => boolean, atMost = 60_000): Promise<void> {
    return this.#timeline.inTurn(async () => {
      await this.#timeline.go(this.#timeline.now + atMost, condition);
      if (!condition()) throw new Error(`the condition did not come true within ${atMost} ms`);
    });
  }

  /** Lets promise chains go on without letting time pass. Timers that are due already fire. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** Sets the wall clock forward (or back, if negative) by `ms`. Nothing else moves. */
  stepWall(ms: number): void {
    this.#wallOffset += ms;
  }

  /**
   * The machine of this clock sleeps for `ms`: afterwards its wall clock has moved and its monotonic clock has not, and
   * its timers are late by that much. For other processes time passes.
   */
  suspend(ms: number): Promise<void> {
    return this.#sleep(ms, () => {
      this.#monoOffset -= ms;
    });
  }

  /** The machine of this clock is frozen for `ms`, as by its hypervisor: neither of its clocks has moved afterwards. */
  freeze(ms: number): Promise<void> {
    return this.#sleep(ms, () => {
      this.#monoOffset -= ms;
      this.#wallOffset -= ms;
    });
  }

  /**
   * Stops the process of this clock (SIGSTOP): both its clocks go on and none of its timers fires. Promise chains cannot
   * be stopped: with the memory store hold the client's replies as well (`client.holdReplies()`).
   */
  pause(): void {
    this.#paused = true;
  }

  /** Lets a paused process go on: everything overdue fires, in order. */
  async resume(): Promise<void> {
    this.#paused = false;
    await this.advance(0);
  }

  /** @internal */
  get standsStill(): boolean {
    return this.#paused || this.#asleep;
  }

  /** @internal */
  timelineAt(mono: number): number {
    return mono - this.#monoOffset;
  }

  #sleep(ms: number, wake: () => void): Promise<void> {
    return this.#timeline.inTurn(async () => {
      this.#asleep = true;
      await this.#timeline.go(this.#timeline.now + ms);
      this.#asleep = false;
      wake();
    });
  }
}

/** A small seeded generator (xorshift, 32 bits): good enough for jitter, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = (seed ^ 0x5bf03635) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
