import type { Ender } from "../../src/clock.js";
import { isZooKeeperError } from "./client/zookeeper-error.js";
import type { ZooKeeperStat } from "./client/zookeeper-wire.js";
import { type ElectionPaths, parentOf } from "./zookeeper-paths.js";
import { readTerm, type TermData, writeVacant } from "./zookeeper-record.js";
import { type Requests, tolerate } from "./zookeeper-requests.js";

/** The `term` znode as it was read. */
export interface Term extends TermData {
  /** The number of the term. */
  readonly version: number;
  /** Its fence. */
  readonly mzxid: bigint;
}

/**
 * Reads what `getData` answered. Without data and never written it is as an administrator makes it. Throws StoreError
 * `unsupported` for a record of a later release.
 */
export function termOf({ data, stat }: { data: Buffer; stat: ZooKeeperStat }, path: string): Term {
  const written = data.length > 0 || stat.version > 0;
  return { ...readTerm(written ? data : writeVacant(), path), version: stat.version, mzxid: stat.mzxid };
}

/**
 * Makes `term`, naming nobody, and writes it once more in the same transaction: its version is never 0, which the client
 * sends in a transaction as "any" and so would take the fence away. Another one making it, or removing its parent, is fine.
 */
export async function makeTerm(requests: Requests, path: string, signal: Ender): Promise<void> {
  const data = writeVacant();
  const operations = [
    { op: "create", path, data, mode: "persistent" },
    { op: "setData", path, data, version: -1 },
  ] as const;
  await tolerate(requests.write(operations, signal), "NODEEXISTS", "NONODE");
}

/** Makes the version of a `term` that somebody else created rise to 1: a plain setData does send version 0. */
export async function leaveVersionZero(requests: Requests, path: string, data: Buffer, signal: Ender): Promise<void> {
  const record = data.length > 0 ? data : writeVacant();
  await tolerate(requests.write([{ op: "setData", path, data: record, version: 0 }], signal), "BADVERSION", "NONODE");
}

/**
 * Makes all that a new election needs, in one transaction; node by node if part of it is there, or its root is not. Who may not make
 * an election may still make what lies below one.
 */
export async function makeElection(requests: Requests, paths: ElectionPaths, signal: Ender): Promise<void> {
  const nothing = Buffer.alloc(0);
  const data = writeVacant();
  const operations = [
    { op: "create", path: paths.election, data: nothing, mode: "persistent" },
    { op: "create", path: paths.candidates, data: nothing, mode: "persistent" },
    { op: "create", path: paths.term, data, mode: "persistent" },
    { op: "setData", path: paths.term, data, version: -1 },
  ] as const;
  if ((await tolerate(requests.write(operations, signal), "NODEEXISTS", "NONODE", "NOAUTH")) === undefined)
    await makeParents(requests, paths, signal);
}

/**
 * Makes the persistent nodes down to `candidates` that are missing. From the bottom up, because a node that exists may lie
 * below one that these credentials may not touch.
 */
async function makeParents(requests: Requests, paths: ElectionPaths, signal: Ender): Promise<void> {
  const missing: string[] = [];
  for (let path = paths.candidates; path !== ""; path = parentOf(path)) {
    if (await make(requests, path, signal)) break;
    missing.push(path);
  }
  for (const path of missing.reverse()) await make(requests, path, signal);
}

/** Whether the node is there now; false: its parent is missing. */
async function make(requests: Requests, path: string, signal: Ender): Promise<boolean> {
  try {
    await requests.write([{ op: "create", path, data: Buffer.alloc(0), mode: "persistent" }], signal);
  } catch (error) {
    if (isZooKeeperError(error, "NONODE")) return false;
    if (!isZooKeeperError(error, "NODEEXISTS")) throw error;
  }
  return true;
}
