/** Base of every error that tenure makes. `code` is stable; messages are for people. */
export class TenureError extends Error {
  /** Stable, machine-readable: one of the codes listed at the subclass. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An option, name or URL that cannot be used. Thrown before anything has changed. `code` is `"config"`. */
export class ConfigError extends TenureError {
  /** The option that is wrong, as the user spells it. */
  readonly option: string;

  constructor(option: string, message: string, options?: { cause?: unknown }) {
    super("config", `${option}: ${message}`, options);
    this.option = option;
  }
}

/**
 * What can go wrong with a store:
 * - `unreachable`: no server answered; nothing was sent
 * - `timeout`: an attempt was given up; it may or may not have taken effect
 * - `connection-lost`: the connection broke under a request; it may or may not have taken effect
 * - `session-ended`: the store has ended this session, or says it never knew it
 * - `auth`: the store refuses these credentials, or this identity may not do that
 * - `certificate`: by TLS, one of the two sides does not accept the other's certificate, at every server
 * - `foreign-data`: something that is not tenure's own lies where tenure keeps its data
 * - `unsupported`: the server cannot do what tenure needs (too old, read-only, a record of a later version)
 * - `too-large`: a request or reply is larger than the server allows
 * - `rejected`: the server refused the request for a reason not listed here (the message and `cause` have it)
 */
export type StoreErrorCode =
  | "unreachable"
  | "timeout"
  | "connection-lost"
  | "session-ended"
  | "auth"
  | "certificate"
  | "foreign-data"
  | "unsupported"
  | "too-large"
  | "rejected";

const LASTING: ReadonlySet<StoreErrorCode> = new Set(["session-ended", "auth", "certificate", "foreign-data", "unsupported", "too-large"]);

/** A failed attempt at the store. Adapters throw nothing else (an abort rejects with the signal's own reason). */
export class StoreError extends TenureError {
  declare readonly code: StoreErrorCode;
  /** Whether the same attempt may succeed later without anybody doing anything. */
  readonly transient: boolean;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown; transient?: boolean }) {
    super(code, message, options);
    this.transient = options?.transient ?? !LASTING.has(code);
  }
}

/**
 * Why a term ended:
 * - `resigned`: `resign()` was called, or the work of `lead` returned or threw by itself
 * - `stopped`: `stop()` was called, or the signal of `lead` aborted
 * - `yielded`: proofs were missing for so long that admission closed, or the seat could not be watched any more (`warning` says why);
 *   the work ended in time and the seat was handed on
 * - `evicted`: somebody removed the candidate's entry
 * - `superseded`: the store names another term although the entry is there
 * - `deadline`: the deadline passed without a fresh proof
 * - `session-ended`: the store said that the session is over
 * - `overrun`: the deadline passed and work was still running
 * - `fence-regressed`: the fence fell below one that this process has seen (a restored or wiped store)
 */
export type LostReason =
  | "resigned"
  | "stopped"
  | "yielded"
  | "evicted"
  | "superseded"
  | "deadline"
  | "session-ended"
  | "overrun"
  | "fence-regressed";

/** The term is over: the reason of `term.signal`, and what `assertValid`, `guard` and `confirm` throw. `code` is `"lost"`. */
export class LostError extends TenureError {
  readonly reason: LostReason;
  /** What a guarded operation returned, when only the check after it failed: it may have taken effect. */
  readonly result: unknown;

  constructor(reason: LostReason, message: string, options?: { cause?: unknown; result?: unknown }) {
    super("lost", message, options);
    this.reason = reason;
    this.result = options?.result;
  }
}

/** The term is to end soon: the reason of `term.draining`. `code` is `"draining"`. */
export class DrainingError extends TenureError {
  readonly reason: "resigned" | "stopped" | "yielded";

  constructor(reason: "resigned" | "stopped" | "yielded", message: string) {
    super("draining", message);
    this.reason = reason;
  }
}

/** The elector was stopped while somebody waited for it. `code` is `"stopped"`. `cause` says why, if it stopped by itself. */
export class StoppedError extends TenureError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("stopped", message, options);
  }
}

/** The reason of an attempt's signal when the attempt took too long: the link under it is suspect. */
export function timedOut(what: string, ms: number): StoreError {
  return new StoreError("timeout", `${what}: no answer within ${Math.round(ms)} ms`);
}

/** Whether `reason` says that an attempt took too long, as against not being wanted any more. */
export function isTimeout(reason: unknown): reason is StoreError {
  return reason instanceof StoreError && reason.code === "timeout";
}
