import type { Standing, Survey } from "../../src/store.js";
import { orMissing } from "./zookeeper-list.js";
import { readHolder } from "./zookeeper-observe.js";
import type { ElectionPaths } from "./zookeeper-paths.js";
import { parseEntry, readListing } from "./zookeeper-queue.js";
import { type Requests, tolerate } from "./zookeeper-requests.js";
import { termOf } from "./zookeeper-term.js";

/** The names below `root`, read behind a `sync`; null: there is no such node. */
export async function readElections(requests: Requests, root: string, signal: AbortSignal): Promise<string[] | null> {
  const [synced, list] = await Promise.allSettled([requests.sync(root, signal), requests.getChildren(root, signal)]);
  if (synced.status === "rejected") throw synced.reason;
  return orMissing(list)?.children ?? null;
}

/**
 * Leader and number of candidates, in one flight and at most one more read, whatever the number of candidates. No `sync`:
 * this session has seen what the one of {@link readElections} brought, and no server shows it less. Null: neither a list
 * of candidates nor a term that can be read.
 */
export async function readSurvey(requests: Requests, paths: ElectionPaths, signal: AbortSignal): Promise<Survey | null> {
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
 * meant to evict a waiter does not take the seat from a leader by mistake.
 */
export async function evictEntry(
  requests: Requests,
  paths: ElectionPaths,
  { entry, leading }: Pick<Standing, "entry" | "leading">,
  signal: AbortSignal,
): Promise<boolean> {
  if (parseEntry(entry) === null) return false;
  const [synced, read] = await Promise.allSettled([requests.sync(paths.term, signal), requests.getData(paths.term, signal)]);
  if (synced.status === "rejected") throw synced.reason;
  const data = orMissing(read);
  const term = data === null ? null : termOf(data, paths.term);
  if ((term?.record?.entry === entry) !== leading) return false;
  const remove = { op: "delete", path: paths.entry(entry), version: -1 } as const;
  // Without a term, or at version 0 (which a transaction takes for any), nobody has ever led here.
  const operations =
    term === null || term.version === 0 ? [remove] : [{ op: "check", path: paths.term, version: term.version } as const, remove];
  return (await tolerate(requests.write(operations, signal), "NONODE", "BADVERSION")) !== undefined;
}
