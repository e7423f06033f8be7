import { StoreError } from "../../src/errors.js";

/** The calls of the contract, as faults and counters name them. */
export type MemoryCall =
  | "open"
  | "prove"
  | "touch"
  | "look"
  | "moved"
  | "claim"
  | "unseated"
  | "prepare"
  | "withdraw"
  | "leader"
  | "queue"
  | "changed"
  | "elections"
  | "survey"
  | "evict"
  | "close";

/** What befalls one call. */
export type Fault =
  | { readonly kind: "request-lost"; readonly error: StoreError }
  | { readonly kind: "reply-lost"; readonly error: StoreError | null };

/** Faults ordered ahead: each befalls the next call of its kind, in the order in which they were ordered. */
export class MemoryFaults {
  readonly #ordered = new Map<MemoryCall | "any", Fault[]>();
  #refusal: StoreError | null = null;

  /**
   * The next call of this kind takes effect and its reply is lost: it fails with `connection-lost`, or (`"silence"`) is
   * not answered at all, so that it ends by its own signal.
   */
  loseReply(call: MemoryCall | "any", how: "connection-lost" | "silence" = "connection-lost"): void {
    const error = how === "silence" ? null : new StoreError("connection-lost", `the reply to ${call} was lost`);
    this.#order(call, { kind: "reply-lost", error });
  }

  /** The next call of this kind has no effect and fails with `error` (default: `connection-lost`). */
  failNext(call: MemoryCall | "any", error?: StoreError): void {
    const fault = error ?? new StoreError("connection-lost", `the request ${call} was lost`);
    this.#order(call, { kind: "request-lost", error: fault });
  }

  /** Every call has no effect and fails with `error` (default: `auth`) until `accept()`. */
  refuse(error: StoreError = new StoreError("auth", "the store refuses these credentials")): void {
    this.#refusal = error;
  }

  /** Ends `refuse()`. */
  accept(): void {
    this.#refusal = null;
  }

  /** @internal */
  next(call: MemoryCall): Fault | undefined {
    if (this.#refusal) return { kind: "request-lost", error: this.#refusal };
    return this.#ordered.get(call)?.shift() ?? this.#ordered.get("any")?.shift();
  }

  #order(call: MemoryCall | "any", fault: Fault): void {
    const ordered = this.#ordered.get(call);
    if (ordered) ordered.push(fault);
    else this.#ordered.set(call, [fault]);
  }
}
