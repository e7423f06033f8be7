import type { HeadPlace, HeldPlace, Leader, Place } from "../../src/store.js";
import type { Entry, Operation, Result } from "./client/consul-wire.js";
import type { ConsulHandle } from "./consul-handle.js";
import { type ElectionPaths, parsePlace } from "./consul-paths.js";
import { type LockRecord, type PlaceRecord, readLock, readPlace, readTerm, type TermRecord } from "./consul-record.js";

/** One of those who wait. */
export interface Waiter extends PlaceRecord {
  readonly name: string;
  readonly session: string;
  readonly count: number;
  readonly createIndex: number;
}

/** An election at one moment. */
export interface View {
  /** In order. */
  readonly queue: readonly Waiter[];
  readonly lock: Entry | null;
  /** What the lock says; null: it is not there, or not tenure's. */
  readonly holder: LockRecord | null;
  readonly term: TermRecord | null;
  /** ModifyIndex of `term`; 0: it is not there. */
  readonly fence: number;
  /** The highest index that it shows. */
  readonly highest: number;
  readonly ignored: readonly string[];
}

/** Whose place it is. */
export interface Owner {
  readonly session: string;
  readonly name: string;
}

/** What the one just before me holds, and how to learn that its process has gone. */
export interface Predecessor {
  readonly session: string;
  /** ModifyIndex of that session's own key; 0: not known. */
  readonly anchor: number;
  /** The key that it holds: the lock, or its place. */
  readonly key: string;
  /** Not tenure's: it has no key of its own to watch. */
  readonly foreign: boolean;
}

export interface ConsulHead extends HeadPlace {
  readonly term: TermRecord | null;
  /** ModifyIndex of `term`. */
  readonly index: number;
}

export interface ConsulHeld extends HeldPlace {
  readonly handle: ConsulHandle;
  readonly extra: TermRecord["extra"];
}

/** In this order: {@link readView} takes their results. */
export function viewOperations({ queue, leader, term }: ElectionPaths): Operation[] {
  return [{ verb: "get-tree", key: queue }, ...seatOperations({ leader, term })];
}

/** Who holds the seat, without the queue. */
export function seatOperations({ leader, term }: Pick<ElectionPaths, "leader" | "term">): Operation[] {
  return [
    { verb: "get-or-empty", key: leader },
    { verb: "get-or-empty", key: term },
  ];
}

/** Reads the last results, which are those of {@link viewOperations}. */
export function readView(paths: ElectionPaths, results: readonly Result[]): View {
  const [tree, lock, term] = results.slice(-3) as [readonly Entry[], Entry | null, Entry | null];
  return viewOf(paths, tree, lock, term);
}

export function viewOf(paths: ElectionPaths, tree: readonly Entry[], lock: Entry | null, term: Entry | null): View {
  const ignored: string[] = [];
  const queue = readQueue(paths, tree, ignored);
  const record = term === null ? null : readTerm(term.value, paths.term);
  if (typeof record === "string") ignored.push(`${paths.term} ${record}`);
  return {
    queue,
    lock,
    holder: lock === null ? null : readLock(lock.value, paths.leader),
    term: typeof record === "string" ? null : record,
    fence: term?.modifyIndex ?? 0,
    highest: [lock, term, ...tree].reduce((highest, entry) => Math.max(highest, entry?.modifyIndex ?? 0), 0),
    ignored,
  };
}

/** Those who wait, in order: as they came, and those who came in one transaction by their count. */
export function readQueue(paths: ElectionPaths, tree: readonly Entry[], ignored: string[] = []): Waiter[] {
  const queue: Waiter[] = [];
  for (const { key, value, session, createIndex } of tree) {
    const name = key.slice(paths.queue.length);
    const place = parsePlace(name);
    if (place === null) ignored.push(`${key} is not a candidate's`);
    else if (session === null) ignored.push(`${key} goes with no session`);
    else {
      const record = readPlace(value, key);
      // Whoever wrote it stands all the same: nobody else may claim before it.
      const shown = typeof record === "string" ? { id: name, metadata: {}, anchor: 0 } : record;
      if (typeof record === "string") ignored.push(`${key} ${record}`);
      queue.push({ ...shown, name, session, count: place.count, createIndex });
    }
  }
  return queue.sort((a, b) => a.createIndex - b.createIndex || a.count - b.count || (a.name < b.name ? -1 : 1));
}

/** Whether the lock is this owner's. Two candidates may share a session: `term` names which of them was seated (REPORT C6). */
export function holds({ lock, holder, term }: View, { session, name }: Owner): boolean {
  // An operator who keeps the seat free may do so on this very session.
  if (lock?.session !== session || holder?.stead) return false;
  return term?.entry === name || (term === null && holder?.entry === name);
}

export function isFree({ lock }: View): boolean {
  return lock?.session == null;
}

/** Where `owner` stands, and whom it is behind. */
export function placeOf(paths: ElectionPaths, view: View, owner: Owner): { place: Place; before: Predecessor | null } {
  const look = { seen: BigInt(view.fence), ignored: view.ignored };
  if (view.term !== null && holds(view, owner)) return { place: heldOf(paths, view, view.term), before: null };
  const mine = view.queue.findIndex(({ name, session }) => name === owner.name && session === owner.session);
  if (mine < 0) return { place: { ...look, kind: "gone" }, before: null };
  if (mine === 0 && isFree(view)) {
    const head: ConsulHead = { ...look, kind: "head", term: view.term, index: view.fence };
    return { place: head, before: null };
  }
  return { place: { ...look, kind: "behind" }, before: predecessor(paths, view, mine) };
}

/** The seat that `term` names. */
export function heldOf(paths: ElectionPaths, { fence, ignored }: View, { session, number, extra }: TermRecord): ConsulHeld {
  return { ...held(paths, session, fence, number), ignored, extra };
}

/** A seat taken by the transaction of index `index`. */
export function held({ leader, term }: ElectionPaths, session: string, index: number, number: number): ConsulHeld {
  const fence = BigInt(index);
  const handle: ConsulHandle = { leaderKey: leader, session, termKey: term, index };
  return { kind: "held", seen: fence, ignored: [], number, fence, handle, extra: {} };
}

/** Who leads, as an observer sees it. */
export function leaderOf({ lock, holder, term, fence }: View): Leader | null {
  if (lock?.session == null || lock.session !== term?.session || holder?.stead) return null;
  const { id, metadata, number, since } = term;
  return { id, metadata, number, since, fence: BigInt(fence) };
}

function predecessor(paths: ElectionPaths, { queue, lock, holder }: View, mine: number): Predecessor {
  const before = queue[mine - 1];
  if (before) return { session: before.session, anchor: before.anchor, key: `${paths.queue}${before.name}`, foreign: false };
  const session = lock?.session ?? "";
  const foreign = holder?.entry == null || parsePlace(holder.entry)?.session !== session;
  return { session, anchor: foreign ? 0 : (holder?.anchor ?? 0), key: paths.leader, foreign };
}
