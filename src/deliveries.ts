/**
 * What is to be told, in order: delivered in a later microtask, one after another, so that a change of state is complete
 * (for all the terms that it concerns) before anybody hears of it, and a change made by a listener waits its turn. Test: events.test.ts.
 */
export class Deliveries {
  readonly #queue: (() => void)[] = [];
  #scheduled = false;

  /** `tell` must not throw. */
  push(tell: () => void): void {
    this.#queue.push(tell);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) next();
      this.#scheduled = false;
    });
  }

  /** Resolves when everything pushed so far has been delivered. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.push(resolve));
  }
}
