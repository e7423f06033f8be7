import type { Ender, EndListener } from "./clock.js";

/** As much of an AbortSignal as calls need, at a tenth of its price: there may be twenty thousand, and a hand-over makes several. */
export class Halt implements Ender {
  aborted = false;
  reason: unknown = undefined;
  /** Nearly always one. */
  #listeners: EndListener | Set<EndListener> | null = null;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    // One that is removed meanwhile is not called.
    if (listeners instanceof Set) for (const listener of listeners) call(listener);
    else if (listeners !== null) call(listeners);
    this.#listeners = null;
  }

  addEventListener(_type: "abort", listener: EndListener): void {
    if (this.aborted) return;
    if (this.#listeners === null) this.#listeners = listener;
    else if (this.#listeners instanceof Set) this.#listeners.add(listener);
    else this.#listeners = new Set([this.#listeners, listener]);
  }

  removeEventListener(_type: "abort", listener: EndListener): void {
    if (this.#listeners instanceof Set) this.#listeners.delete(listener);
    else if (this.#listeners === listener) this.#listeners = null;
  }
}

/** As an AbortSignal does it: one that throws keeps nobody else from hearing of the end. */
function call(listener: EndListener): void {
  try {
    if (typeof listener === "function") listener();
    else listener.handleEvent();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

/** An AbortSignal that is made when somebody asks for it. */
export class LazySignal {
  #controller: AbortController | null = null;
  #reason: (() => unknown) | null = null;

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason());
    }
    return this.#controller.signal;
  }

  /** `reason` is asked once somebody wants the signal. */
  abort(reason: () => unknown): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#controller?.abort(reason());
  }
}
