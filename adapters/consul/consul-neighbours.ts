import type { Clock } from "../../src/clock.js";
import type { ConsulClient, Entry } from "./client/consul-wire.js";
import { sessionKey, sessionKeys } from "./consul-paths.js";
import { Poll } from "./consul-poll.js";
import { KeyWatches } from "./consul-watches.js";

/** So many processes ahead are watched by a query each; more, by one query on the keys of all sessions. */
const MOST = 4;

/**
 * Watches the processes that are just ahead of ours somewhere: one that crashes writes no letter, but its session's key vanishes. One
 * query a process, however many elections it is ahead in.
 */
export class Neighbours {
  readonly #client: ConsulClient;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #fell: () => void;
  readonly #single: KeyWatches;
  #all: Poll | null = null;
  #present: ReadonlySet<string> = new Set();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(client: ConsulClient, clock: Clock, prefix: string, fell: () => void) {
    this.#client = client;
    this.#clock = clock;
    this.#prefix = prefix;
    this.#fell = fell;
    this.#single = new KeyWatches(client, clock, fell);
  }

  /** Calls `gone` once the key of `session` is not there. `anchor`: its ModifyIndex; 0: not known. Returns what ends it. */
  add(session: string, anchor: number, gone: () => void): () => void {
    const key = sessionKey(this.#prefix, session);
    if (this.#all === null && !this.#single.has(key) && this.#single.size >= MOST) this.#single.spare();
    if (this.#all === null && (this.#single.has(key) || this.#single.size < MOST)) {
      return this.#single.add(key, anchor, { still: (entry) => entry?.session === session, changed: gone });
    }
    return this.#addToAll(key, gone);
  }

  reopen(): void {
    this.#single.reopen();
    this.#all?.reopen();
  }

  close(): void {
    this.#single.close();
    this.#all?.close();
    this.#all = null;
  }

  #addToAll(key: string, gone: () => void): () => void {
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(gone));
    if (this.#all === null) {
      const what = { key: sessionKeys(this.#prefix), recurse: true };
      this.#all = new Poll(this.#client, this.#clock, what, 0, { found: ({ entries }) => this.#found(entries), fell: this.#fell });
    } else if (!this.#present.has(key)) this.#all.refresh();
    return () => {
      waiting.delete(gone);
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    };
  }

  #found(entries: readonly Entry[]): void {
    this.#present = new Set(entries.filter(({ session }) => session !== null).map(({ key }) => key));
    for (const [key, waiting] of [...this.#waiting]) {
      if (this.#present.has(key)) continue;
      this.#waiting.delete(key);
      for (const gone of waiting) gone();
    }
    if (this.#waiting.size > 0) return;
    this.#all?.close();
    this.#all = null;
  }
}
