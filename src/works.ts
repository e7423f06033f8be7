/** The work of one term that has not settled: the seat is not released before it has. */
export class Works {
  readonly #running = new Set<Promise<void>>();
  readonly #onFailure: (error: unknown) => void;
  #closed = false;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  get running(): boolean {
    return this.#running.size > 0;
  }

  /** No more work is taken. */
  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
  }

  /** `report`: whether a rejection is reported (somebody else handles it otherwise). */
  add(work: PromiseLike<unknown>, report: boolean): void {
    const tracked: Promise<void> = Promise.resolve(work).then(
      () => void this.#running.delete(tracked),
      (error) => {
        this.#running.delete(tracked);
        if (report) this.#onFailure(error);
      },
    );
    this.#running.add(tracked);
  }

  /** Resolves when all work that runs now, and all that is added meanwhile, has settled. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
