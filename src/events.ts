import { EventEmitter } from "eventemitter3";
import type { LostReason } from "./errors.js";
import type { Term } from "./term.js";

/** The events of an elector and what a listener gets. A promise that an `elected` or `draining` listener returns is awaited before the seat is released. */
export interface ElectorEvents {
  /** In the queue, behind another. */
  standby: () => void;
  /** A term has begun. Followed by exactly one `lost`. */
  elected: (term: Term) => unknown;
  /** Still leader, but a proof is overdue; `remaining` ms are left until the deadline. */
  suspect: (event: { readonly term: Term; readonly remaining: number }) => void;
  /** A proof was answered again. */
  restored: (event: { readonly term: Term }) => void;
  /** Admission is closed: no new work should start. */
  draining: (event: { readonly term: Term; readonly reason: "resigned" | "stopped" | "yielded" }) => unknown;
  /** The term is over. `cause` is what brought it about, where there is more to say than the reason does. */
  lost: (event: { readonly term: Term; readonly reason: LostReason; readonly cause: unknown }) => void;
  /** Nothing of this elector is left at the store. `error` is null, or why it stopped by itself. */
  stopped: (event: { readonly error: Error | null }) => void;
  /** Something to look into that stops nothing: a failed try, a listener that threw, foreign data. */
  warning: (error: Error) => void;
}

type Name = keyof ElectorEvents;
const NAMES: ReadonlySet<string> = new Set([
  "standby",
  "elected",
  "suspect",
  "restored",
  "draining",
  "lost",
  "stopped",
  "warning",
  "error",
]);
type Argument<E extends Name> = Parameters<ElectorEvents[E]>[0];
type Collect = (promise: PromiseLike<unknown>) => void;
type Wrapped = (argument: unknown, collect: Collect | null) => void;

/** Listeners of one elector. A listener that throws or rejects is reported to `onFailure`; it never reaches the emitter's caller. */
export class Events {
  readonly #emitter = new EventEmitter();
  /** A few a candidate, so a list is smaller and no slower than maps. */
  readonly #listeners: { readonly event: Name; readonly listener: unknown; readonly wrapped: Wrapped }[] = [];
  readonly #onFailure: (error: unknown, event: string) => void;

  constructor(onFailure: (error: unknown, event: string) => void) {
    this.#onFailure = onFailure;
  }

  /** Adding a listener twice has no effect. */
  on<E extends Name>(event: E, listener: ElectorEvents[E], once: boolean): () => void {
    if (typeof listener !== "function") throw new TypeError(`listener of "${event}": expected a function, got ${typeof listener}`);
    // Node's events.once() also listens to "error", which nobody sends here.
    if (!NAMES.has(event)) throw new TypeError(`event: expected one of ${[...NAMES].join(", ")}, got ${JSON.stringify(event)}`);
    if (this.#find(event, listener) < 0) {
      const wrapped: Wrapped = (argument, collect) => {
        if (once) this.off(event, listener);
        this.#call(event, listener as (argument: unknown) => unknown, argument, collect);
      };
      this.#listeners.push({ event, listener, wrapped });
      this.#emitter.on(event, wrapped);
    }
    return () => this.off(event, listener);
  }

  off<E extends Name>(event: E, listener: ElectorEvents[E]): void {
    const index = this.#find(event, listener);
    if (index < 0) return;
    const [removed] = this.#listeners.splice(index, 1);
    this.#emitter.off(event, removed?.wrapped);
  }

  #find(event: Name, listener: unknown): number {
    return this.#listeners.findIndex((one) => one.event === event && one.listener === listener);
  }

  /** `collect` gets the promises that listeners return. */
  emit<E extends Name>(event: E, argument: Argument<E> | undefined, collect: Collect | null): void {
    this.#emitter.emit(event, argument, collect);
  }

  has(event: Name): boolean {
    return this.#emitter.listenerCount(event) > 0;
  }

  #call(event: string, listener: (argument: unknown) => unknown, argument: unknown, collect: Collect | null): void {
    try {
      const result = listener(argument);
      if (!isThenable(result)) return;
      if (collect) collect(result);
      else Promise.resolve(result).catch((error) => this.#onFailure(error, event));
    } catch (error) {
      this.#onFailure(error, event);
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null)?.then === "function";
}
