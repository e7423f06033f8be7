import { uptime } from "node:os";
import { performance } from "node:perf_hooks";

/** One reading of both clocks, in milliseconds. Elapsed time is the larger of the two differences. */
export interface Instant {
  /** Monotonic milliseconds; the origin is arbitrary. */
  readonly mono: number;
  /** Milliseconds since the Unix epoch by the wall clock. */
  readonly wall: number;
}

/** A pending timer. */
export interface Timer {
  /** Stops the timer; harmless when it has fired or was stopped already. */
  cancel(): void;
}

/** Time and chance: everything in tenure that waits, measures or rolls dice goes through one of these. */
export interface Clock {
  /** Monotonic milliseconds; never goes back. */
  mono(): number;
  /** Milliseconds since the Unix epoch; may step either way. */
  wall(): number;
  /** Calls `fn` once, at the earliest `ms` milliseconds from now; any length works, also beyond 2^31 ms. */
  after(ms: number, fn: () => void): Timer;
  /** A number in [0, 1), for jitter. */
  random(): number;
}

/** What may end a call from outside: an AbortSignal, or what offers as much of one and costs less. */
export interface Ender {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: EndListener, options: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: EndListener): void;
}

/** Called once, when the call is to end. */
export type EndListener = (() => void) | { handleEvent(): void };

/** Reads both clocks of `clock` at once. */
export function instant(clock: Clock): Instant {
  return { mono: clock.mono(), wall: clock.wall() };
}

/**
 * Milliseconds since `from`: the larger of what the two clocks say. The monotonic clock stands still while a machine
 * is suspended and the wall clock does not; a wall clock stepped back is ignored. Too much is allowed, too little is not.
 */
export function elapsed(clock: Clock, from: Instant): number {
  return Math.max(clock.mono() - from.mono, clock.wall() - from.wall);
}

/** Resolves after `ms` milliseconds by `clock`; rejects with the reason of `signal` when that aborts first. */
export function sleep(clock: Clock, ms: number, signal: Ender): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Node's `setTimeout` fires at once for anything longer. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** `os.uptime()` has a resolution of 10 ms; a smaller difference is not a suspension. */
const SUSPENSION_NOISE = 50;

/** Where {@link SystemClock} reads time from; replaced in tests only. */
export interface TimeSources {
  mono(): number;
  wall(): number;
  /** Milliseconds since boot, counting suspension (CLOCK_BOOTTIME on Linux). */
  boot(): number;
}

const SYSTEM: TimeSources = {
  mono: () => performance.now(),
  wall: () => Date.now(),
  boot: () => uptime() * 1000,
};

/**
 * The machine's own clocks. `performance.now()` does not count time that the machine was suspended and uptime does, so
 * each time a timer fires the two are compared and `mono()` jumps by what was missed. (Not at every call: reading the
 * uptime costs some 6 µs.)
 */
export class SystemClock implements Clock {
  readonly #sources: TimeSources;
  readonly #bootOffset: number;
  #suspended = 0;

  constructor(sources: TimeSources = SYSTEM) {
    this.#sources = sources;
    this.#bootOffset = sources.boot() - sources.mono();
  }

  mono(): number {
    return this.#sources.mono() + this.#suspended;
  }

  wall(): number {
    return this.#sources.wall();
  }

  random(): number {
    return Math.random();
  }

  after(ms: number, fn: () => void): Timer {
    let left = Math.max(0, ms);
    let handle: NodeJS.Timeout;
    const arm = () => {
      const step = Math.min(left, LONGEST_TIMEOUT);
      left -= step;
      handle = setTimeout(() => {
        this.#noticeSuspension();
        if (left > 0) arm();
        else fn();
      }, step);
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  }

  #noticeSuspension(): void {
    const missed = this.#sources.boot() - this.#sources.mono() - this.#bootOffset;
    if (missed > this.#suspended + SUSPENSION_NOISE) this.#suspended = missed;
  }
}

/** The clock that everything uses unless another one is given. */
export const systemClock: Clock = new SystemClock();
