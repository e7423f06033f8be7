import type { KeyWatches, Watcher } from "./consul-watches.js";

/** So many keys are watched by a query each, to see interference at once; the sweep sees it wherever else. */
const MOST = 3;

/** Watches on the locks of the first few seats, and of seats that somebody else holds who writes no letters. */
export class Locks {
  readonly #watches: KeyWatches;

  constructor(watches: KeyWatches) {
    this.#watches = watches;
  }

  /** As {@link KeyWatches.add}; does nothing when there are too many already. */
  add(key: string, index: number, watcher: Watcher): () => void {
    if (!this.#watches.has(key) && this.#watches.size >= MOST) this.#watches.spare();
    if (!this.#watches.has(key) && this.#watches.size >= MOST) return () => {};
    return this.#watches.add(key, index, watcher);
  }

  reopen(): void {
    this.#watches.reopen();
  }

  close(): void {
    this.#watches.close();
  }
}
