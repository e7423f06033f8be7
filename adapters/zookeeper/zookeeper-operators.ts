import type { Ender } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import type { Card, Evicted, Seen, Survey } from "../../src/store.js";
import type { Operation } from "./client/zookeeper-wire.js";
import { orMissing } from "./zookeeper-list.js";
import { readElection, readHolder } from "./zookeeper-observe.js";
import type { ElectionPaths } from "./zookeeper-paths.js";
import { needsCreationOrder, parseEntry, readListing } from "./zookeeper-queue.js";
import { writeCard } from "./zookeeper-record.js";
import { type Requests, tolerate } from "./zookeeper-requests.js";
import { termOf } from "./zookeeper-term.js";

/** The names below `root`, read behind a `sync`; null: there is no such node. */
export async function readElections(requests: Requests, root: string, signal: Ender): Promise<string[] | null> {
  const [synced, list] = await Promise.allSettled([requests.sync(root, signal), requests.getChildren(root, signal)]);
  if (synced.status === "rejected") throw synced.reason;
  return orMissing(list)?.children ?? null;
}

/**
 * Leader and number of candidates, in one flight and at most one more read, whatever the number of candidates. No `sync`:
 * this session has seen what the one of {@link readElections} brought, and no server shows it less. Null: neither a list
 * of candidates nor a term that can be read.
 */
export async function readSurvey(requests: Requests, paths: ElectionPaths, signal: Ender): Promise<Survey | null> {
  const reads = [requests.getData(paths.term, signal), requests.getChildren(paths.candidates, signal)] as const;
  const [read, list] = await Promise.allSettled(reads);
  const [data, children] = [orMissing(read), orMissing(list)?.children ?? null];
  const term = data === null ? null : termOf(data, paths.term);
  if (children === null && (term === null || term.fault !== null)) return null;
  const { entries } = readListing(children ?? []);
  const named = entries.some(({ name }) => name === term?.record?.entry);
  const leader = term !== null && named ? await readHolder(requests, paths, term, signal) : null;
  return { leader, waiting: entries.length - (named ? 1 : 0) };
}

/**
 * Deletes an entry, together with a check that `term` is as it was when it said whether that entry holds the seat: who
 * meant to evict a waiter does not take the seat from a leader by mistake. The stead is an entry of this session with the
 * sequence of the evicted one, so it stands exactly there: whoever was behind that one finds itself behind this one.
 */
export async function evictEntry(
  requests: Requests,
  paths: ElectionPaths,
  { entry, leading }: Seen,
  stead: Card | null,
  signal: Ender,
): Promise<Evicted | null> {
  if (parseEntry(entry) === null) return null;
  const { term, children } = await readElection(requests, paths, signal);
  const { entries } = readListing(children);
  const name = stead && steadOf(entry, requests.sessionId);
  // An earlier attempt has done it.
  if (name !== null && entries.some((there) => there.name === name)) return { stead: name };
  if ((term?.record?.entry === entry) !== leading) return null;
  const operations: Operation[] = [{ op: "delete", path: paths.entry(entry), version: -1 }];
  // Without a term, or at version 0 (which a transaction takes for any), nobody has ever led here.
  if (term !== null && term.version > 0) operations.unshift({ op: "check", path: paths.term, version: term.version });
  if (stead !== null && name !== null) {
    // The order is that of creation then, and the stead would be the last.
    if (needsCreationOrder(entries))
      throw new StoreError("unsupported", `${paths.candidates}: no place can be kept while its sequence is used up`);
    operations.push({ op: "create", path: paths.entry(name), data: writeCard(stead), mode: "ephemeral" });
  }
  const done = await tolerate(requests.write(operations, signal), "NONODE", "BADVERSION");
  return done === undefined ? null : { stead: name };
}

/** The name of the entry that stands for `entry`: known ahead, so that it is found when the reply was lost. */
function steadOf(entry: string, session: bigint): string {
  const guid = BigInt.asUintN(64, session).toString(16).padStart(32, "0");
  return `${guid}${entry.slice(guid.length)}`;
}
