import type { Duration } from "./duration.js";
import type { LostReason } from "./errors.js";

/**
 * One reign. It is valid while the clock is before its deadline: `valid` asks the clock at each call, so the first look
 * after the process was paused says "no" before any event has been handled.
 */
export interface Term {
  readonly election: string;
  /** Counts the terms of this election. */
  readonly number: number;
  /** The fencing token: higher than that of every earlier term, for ever. Fits a signed 64-bit column. */
  readonly fence: bigint;
  /** The fence as a decimal string, for JSON and headers. */
  readonly token: string;
  /** When this process entered the term, by its wall clock. */
  readonly since: Date;
  /** What the store's own subpath understands (ZooKeeper: fences a transaction). */
  readonly handle: unknown;
  /** Whether this is still the leader's term, by the clock, now. */
  readonly valid: boolean;
  /** Milliseconds until the deadline; 0 when the term is over. Proofs move the deadline on. */
  remaining(): number;
  /**
   * Throws a {@link LostError} unless the term is valid for `needs` more (default 0), also where it goes on and only less is
   * left. Throws a {@link ConfigError} when `needs` is no length of time.
   */
  assertValid(needs?: Duration): void;
  /**
   * Runs `operation` if the term is valid for `needs` more ms, and checks again when it has settled. If only that check
   * fails, the {@link LostError} carries the `result`: it may have taken effect. The seat is not released before it
   * has settled. `signal` aborts at the deadline.
   */
  guard<T>(operation: (signal: AbortSignal) => T | PromiseLike<T>, options?: { needs?: Duration }): Promise<T>;
  /** Aborts when no new work should start (reason: a {@link DrainingError}); at the latest together with `signal`. */
  readonly draining: AbortSignal;
  /** Aborts when the term is over (reason: a {@link LostError}). */
  readonly signal: AbortSignal;
  /** The seat is not released before `work` has settled. Throws a {@link LostError} when the term is over and settled. */
  waitUntil(work: PromiseLike<unknown>): void;
  /** Gets a fresh proof from the store. Rejects with a {@link LostError} when the term is over, with a {@link StoreError} when none came. */
  confirm(): Promise<void>;
}

/** Why a term is being drained. */
export type DrainReason = "resigned" | "stopped" | "yielded";

/** What a term tells the elector that it belongs to, each at once, before anybody else hears of it. */
export interface TermPort {
  suspect(): void;
  restored(): void;
  draining(reason: DrainReason): void;
  over(reason: LostReason, cause: unknown): void;
  warn(error: unknown, what: string): void;
  /** Resolves when everything told so far has been delivered to the listeners. */
  delivered(): Promise<void>;
}
