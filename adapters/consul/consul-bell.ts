/** Rings when something may have changed; stays rung until it is cleared. */
export class Bell {
  #rung = false;
  #waiting: (() => void) | null = null;

  get rung(): boolean {
    return this.#rung;
  }

  ring(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  clear(): void {
    this.#rung = false;
  }

  /** One at a time. Returns what ends it. */
  onRing(waiting: () => void): () => void {
    this.#waiting = waiting;
    return () => {
      if (this.#waiting === waiting) this.#waiting = null;
    };
  }
}
