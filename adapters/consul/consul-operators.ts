import type { Ender } from "../../src/clock.js";
import type { Card, Evicted, Seen } from "../../src/store.js";
import type { Entry, Operation } from "./client/consul-wire.js";
import { LOOK, letterOperation, tell } from "./consul-letters.js";
import { readElection } from "./consul-observe.js";
import { type ElectionPaths, electionPaths, placeName } from "./consul-paths.js";
import { writeLock } from "./consul-record.js";
import { asStoreError, isRefused } from "./consul-requests.js";
import type { SessionParts } from "./consul-surroundings.js";
import { leaderOf, readQueue, readView, type View, viewOperations } from "./consul-view.js";

const FREE = writeLock({ entry: null, anchor: 0, stead: null });

/** What operators do, on one session. */
export class Operators {
  readonly #parts: SessionParts;
  /** Entries that stand in the place of evicted ones: by the entry that was evicted. */
  readonly #steads = new Map<string, string>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  async evict(election: string, { entry, leading }: Seen, stead: Card | null, signal: Ender): Promise<Evicted | null> {
    const paths = electionPaths(this.#parts.prefix, election);
    const view = await readElection(this.#parts, paths, signal);
    const repeated = this.#steads.get(`${paths.queue}${entry}`);
    if (stead && repeated !== undefined && isStead(view, repeated)) return { stead: repeated };
    if (leading) return this.#evictLeader(paths, view, entry, stead, signal);
    return isStead(view, entry) ? this.#endStead(paths, view, signal) : this.#evictWaiter(paths, view, entry, signal);
  }

  /** The lock changes hands or is freed in one step, and whoever held it is told. A stead *is* the lock: nobody can claim meanwhile. */
  async #evictLeader(paths: ElectionPaths, view: View, entry: string, stead: Card | null, signal: Ender): Promise<Evicted | null> {
    const { lock } = view;
    const mine = leaderOf(view) !== null && view.term?.entry === entry;
    const foreign = leaderOf(view) === null && view.holder?.stead == null && entry === paths.leader;
    if (lock?.session == null || !(mine || foreign)) return null;
    const { session, anchor, nextCount } = this.#parts;
    const name = stead ? placeName(session, nextCount()) : null;
    const free: Operation[] = [
      { verb: "check-index", key: paths.leader, index: lock.modifyIndex },
      { verb: "unlock", key: paths.leader, value: FREE, session: lock.session },
    ];
    if (stead) free.push({ verb: "lock", key: paths.leader, value: writeLock({ entry: name, anchor, stead }), session });
    const letter = mine ? [letterOperation(this.#parts.prefix, lock.session, paths.election, LOOK)] : [];
    const done = await this.#transact([...free, ...letter, ...viewOperations(paths)], signal);
    if (done === null) return null;
    if (name !== null) {
      this.#steads.set(`${paths.queue}${entry}`, name);
      return { stead: name };
    }
    await this.#tellFirst(paths, readView(paths, done), signal);
    return { stead: null };
  }

  async #endStead(paths: ElectionPaths, { lock }: View, signal: Ender): Promise<Evicted | null> {
    const operations: Operation[] = [
      { verb: "check-index", key: paths.leader, index: lock?.modifyIndex ?? 0 },
      { verb: "unlock", key: paths.leader, value: FREE, session: lock?.session ?? "" },
      ...viewOperations(paths),
    ];
    const done = await this.#transact(operations, signal);
    if (done === null) return null;
    await this.#tellFirst(paths, readView(paths, done), signal);
    return { stead: null };
  }

  async #evictWaiter(paths: ElectionPaths, { queue }: View, entry: string, signal: Ender): Promise<Evicted | null> {
    const place = queue.findIndex(({ name }) => name === entry);
    const waiter = queue[place];
    if (!waiter) return null;
    const key = `${paths.queue}${entry}`;
    const operations: Operation[] = [
      { verb: "check-session", key, session: waiter.session },
      { verb: "delete", key },
      letterOperation(this.#parts.prefix, waiter.session, paths.election, LOOK),
      { verb: "get-tree", key: paths.queue },
    ];
    const done = await this.#transact(operations, signal);
    if (done === null) return null;
    // Whoever was behind it watches only its session, which lives on.
    const behind = readQueue(paths, done[3] as readonly Entry[]).find(({ createIndex }) => createIndex >= waiter.createIndex);
    if (behind) await tell({ ...this.#parts, paths }, [behind.session], signal);
    return { stead: null };
  }

  async #tellFirst(paths: ElectionPaths, { queue: [first] }: View, signal: Ender): Promise<void> {
    if (first) await tell({ ...this.#parts, paths }, [first.session], signal);
  }

  /** Null: something has changed since the view, or the session in question has ended. */
  async #transact(operations: readonly Operation[], signal: Ender) {
    try {
      return await this.#parts.requests.write(operations, signal);
    } catch (error) {
      if (isRefused(error, "check") || isRefused(error, "session") || isRefused(error, "held")) return null;
      throw asStoreError(error);
    }
  }
}

function isStead({ holder, lock }: View, entry: string): boolean {
  return lock?.session != null && holder?.stead != null && holder.entry === entry;
}
