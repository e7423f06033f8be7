import { StoreError } from "../../src/errors.js";
import type { BehindPlace, HeadPlace, HeldPlace } from "../../src/store.js";

/** What a held seat gives to who knows ZooKeeper: enough to fence a transaction by it. */
export interface ZooKeeperHandle {
  /** What the store was told to put before every path; empty if nothing. A client of its own that is not under it needs it. */
  readonly chroot: string;
  /** The `term` znode, below `chroot`. */
  readonly termPath: string;
  /** My entry, below `chroot`. */
  readonly entryPath: string;
  /** The version that `term` keeps for as long as this term is the newest. */
  readonly version: number;
}

/** The part of a transaction that {@link fence} needs; that of node-zookeeper-client has it. */
export interface CheckingTransaction {
  check(path: string, version: number): unknown;
}

/**
 * Adds to `transaction` the check that fails once a newer term has begun: a transaction so fenced cannot be committed
 * for an older term. `handle` is that of a term held on ZooKeeper; anything else is a TypeError.
 */
export function fence<T extends CheckingTransaction>(transaction: T, handle: unknown): T {
  if (!isHandle(handle)) throw new TypeError("expected the handle of a term that is held on ZooKeeper");
  transaction.check(handle.termPath, handle.version);
  return transaction;
}

/** Whether `value` is the handle of a term that is held on ZooKeeper. */
export function isHandle(value: unknown): value is ZooKeeperHandle {
  const { termPath, version } = (value ?? {}) as Partial<ZooKeeperHandle>;
  return typeof termPath === "string" && Number.isInteger(version);
}

/** The free seat, as one look showed it. */
export interface ZooKeeperHead extends HeadPlace {
  /** Of `term`, as read: a claim is good for no other. */
  readonly version: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A place in the queue. */
export interface ZooKeeperBehind extends BehindPlace {
  /** The name of the one entry that is waited for. */
  readonly predecessor: string;
}

/** The seat that I hold. */
export interface ZooKeeperHeld extends HeldPlace {
  readonly handle: ZooKeeperHandle;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** What `look` answers after more rounds than anything but constant interference explains. */
export function unsteady(path: string): StoreError {
  return new StoreError("rejected", `${path} changes faster than it can be read`, { transient: true });
}

const SHOWN = 3;

/** The sentences about what lies there and is not ours: a few of the names, and the term's data. */
export function ignoredSentences(foreign: readonly string[], candidates: string, fault: string | null, term: string): string[] {
  const more = foreign.length > SHOWN ? ` and ${foreign.length - SHOWN} more` : "";
  const names = foreign.slice(0, SHOWN).map((name) => JSON.stringify(name));
  const sentences: string[] = [];
  if (names.length > 0) {
    sentences.push(
      `${candidates} has children that are not tenure's: ${names.join(", ")}${more}; delete them, or give tenure another root`,
    );
  }
  if (fault !== null) sentences.push(`${term} is not a record of tenure (it ${fault}); delete it, or give tenure another root`);
  return sentences;
}
