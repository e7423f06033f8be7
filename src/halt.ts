/** What may end a call from outside: an AbortSignal, or a {@link Halt}. */
export interface Ender {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: EndListener, options: { once: true }): void;
  removeEventListener(type: "abort", listener: EndListener): void;
}

export interface EndListener {
  handleEvent(): void;
}

/** As much of an AbortSignal as our own calls need, at a tenth of its price: a hand-over waits for the making of each. */
export class Halt implements Ender {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<EndListener>();

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener.handleEvent();
    this.#listeners.clear();
  }

  addEventListener(_type: "abort", listener: EndListener): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: EndListener): void {
    this.#listeners.delete(listener);
  }
}

/** An AbortSignal that is made when somebody asks for it. */
export class LazySignal {
  #controller: AbortController | null = null;
  #reason: (() => unknown) | null = null;

  get aborted(): boolean {
    return this.#reason !== null;
  }

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
