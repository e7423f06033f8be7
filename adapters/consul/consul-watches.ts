import type { Clock } from "../../src/clock.js";
import type { ConsulClient, Entry, Found } from "./client/consul-wire.js";
import { Poll } from "./consul-poll.js";

/** Who wants to know of a change. */
export interface Watcher {
  /** Whether the key is as it was. */
  still(entry: Entry | null): boolean;
  changed(): void;
}

interface Watched {
  readonly poll: Poll;
  readonly watchers: Set<Watcher>;
  /** What the last answer showed; null: there was none. */
  last: Found | null;
}

/** Blocking queries on single keys: one a key, however many watch it. */
export class KeyWatches {
  readonly #client: ConsulClient;
  readonly #clock: Clock;
  readonly #fell: () => void;
  readonly #watched = new Map<string, Watched>();

  constructor(client: ConsulClient, clock: Clock, fell: () => void) {
    this.#client = client;
    this.#clock = clock;
    this.#fell = fell;
  }

  get size(): number {
    return this.#watched.size;
  }

  has(key: string): boolean {
    return this.#watched.has(key);
  }

  /**
   * Calls `changed` once, when the key is not `still` what it was. `index`: its ModifyIndex as known; 0: not known. Returns what
   * ends it; the query stays open until it is answered, in case somebody wants it again.
   */
  add(key: string, index: number, watcher: Watcher): () => void {
    let watched = this.#watched.get(key);
    if (!watched) {
      const watchers = new Set<Watcher>();
      const poll = new Poll(this.#client, this.#clock, { key, recurse: false }, index, {
        found: (found) => this.#found(key, found),
        fell: this.#fell,
      });
      watched = { poll, watchers, last: null };
      this.#watched.set(key, watched);
    }
    const { watchers, last } = watched;
    watchers.add(watcher);
    // The query that is open waits for what comes after this answer.
    if (last !== null && last.index > index) queueMicrotask(() => watchers.has(watcher) && this.#tell(watchers, last));
    return () => void watchers.delete(watcher);
  }

  /** Closes a query that nobody watches, if there is one. */
  spare(): void {
    for (const [key, { poll, watchers }] of this.#watched) {
      if (watchers.size > 0) continue;
      poll.close();
      this.#watched.delete(key);
      return;
    }
  }

  reopen(): void {
    for (const { poll } of this.#watched.values()) poll.reopen();
  }

  close(): void {
    for (const { poll } of this.#watched.values()) poll.close();
    this.#watched.clear();
  }

  #found(key: string, found: Found): void {
    const watched = this.#watched.get(key);
    if (!watched) return;
    watched.last = found;
    this.#tell(watched.watchers, found);
    if (watched.watchers.size > 0) return;
    watched.poll.close();
    this.#watched.delete(key);
  }

  #tell(watchers: Set<Watcher>, { entries }: Found): void {
    for (const watcher of [...watchers]) {
      if (watcher.still(entries[0] ?? null)) continue;
      watchers.delete(watcher);
      watcher.changed();
    }
  }
}
