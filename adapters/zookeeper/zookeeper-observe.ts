import type { Ender } from "../../src/clock.js";
import type { Leader, Standing } from "../../src/store.js";
import { orMissing, readQueue } from "./zookeeper-list.js";
import type { ElectionPaths } from "./zookeeper-paths.js";
import { readCard } from "./zookeeper-record.js";
import { type Requests, tolerate } from "./zookeeper-requests.js";
import { type Term, termOf } from "./zookeeper-term.js";
import { watched } from "./zookeeper-watch.js";

/** A session as people and the servers' logs call it. */
export function sessionName(id: bigint): string {
  return `0x${id.toString(16)}`;
}

/**
 * Who holds the seat: the record of `term`, if the entry that it names is there. Read behind a `sync`, so it is not older
 * than the call, save that an ensemble leader which has just been deposed may answer for some seconds more.
 */
export async function readLeader(requests: Requests, paths: ElectionPaths, signal: Ender): Promise<Leader | null> {
  const [synced, read] = await Promise.allSettled([requests.sync(paths.term, signal), requests.getData(paths.term, signal)]);
  if (synced.status === "rejected") throw synced.reason;
  const data = orMissing(read);
  if (data === null) return null;
  const term = termOf(data, paths.term);
  return readHolder(requests, paths, term, signal);
}

/** Whoever holds the seat by `term`; null: its entry has gone, or it names none. */
export async function readHolder(requests: Requests, paths: ElectionPaths, term: Term, signal: Ender): Promise<Leader | null> {
  if (!term.record) return null;
  const { entry, since } = term.record;
  const holder = await readStanding(requests, paths.entry(entry), entry, true, signal);
  if (holder === null) return null;
  return { id: holder.id, metadata: holder.metadata, number: term.version, fence: term.mzxid, since };
}

/** `term` (null: missing) and the names in `candidates`, in one flight behind a `sync`. */
export async function readElection(
  requests: Requests,
  paths: ElectionPaths,
  signal: Ender,
): Promise<{ readonly term: Term | null; readonly children: readonly string[] }> {
  const flight = [
    requests.sync(paths.term, signal),
    requests.getData(paths.term, signal),
    requests.getChildren(paths.candidates, signal),
  ] as const;
  const [synced, read, list] = await Promise.allSettled(flight);
  if (synced.status === "rejected") throw synced.reason;
  const data = orMissing(read);
  const term = data === null ? null : termOf(data, paths.term);
  return { term, children: orMissing(list)?.children ?? [] };
}

/** Everybody who stands, the holder of the seat first; as fresh as {@link readLeader}. */
export async function readStandings(requests: Requests, paths: ElectionPaths, signal: Ender): Promise<Standing[]> {
  const { term, children } = await readElection(requests, paths, signal);
  const holder = term?.record?.entry;
  const { order } = await readQueue(requests, paths, children, signal);
  const all = await Promise.all(order.map(({ name }) => readStanding(requests, paths.entry(name), name, name === holder, signal)));
  const there = all.filter((standing) => standing !== null);
  return [...there.filter(({ leading }) => leading), ...there.filter(({ leading }) => !leading)];
}

/**
 * Waits until {@link readLeader} may answer something else than `seen`: a watch on `term`, and one on the entry of the
 * holder. What happened before they were armed shows in what arming them reads.
 */
export async function leaderChanged(requests: Requests, paths: ElectionPaths, seen: Leader | null, signal: Ender): Promise<void> {
  const written = requests.watch("data", paths.term, signal);
  try {
    const data = await tolerate(written.armed, "NONODE");
    if (data === undefined) {
      if (seen === null) await untilMade(requests, paths.term, signal);
      return;
    }
    const term = termOf(data, paths.term);
    if (!isSame(term, seen)) return;
    if (!term.record) return void (await watched([written], signal));
    const entry = paths.entry(term.record.entry);
    if (seen !== null) {
      await watched([written, requests.watch("children", entry, signal)], signal);
    } else if ((await requests.exists(entry, signal)) === null) {
      // Nobody was seen, and the named entry is missing still: only a claim can seat somebody, and it writes the term.
      await watched([written], signal);
    }
  } finally {
    written.release();
  }
}

/** There is no `term` yet: an exists watch, the only kind that a missing node can have. It is used up when `term` is made. */
async function untilMade(requests: Requests, path: string, signal: Ender): Promise<void> {
  const made = requests.watch("exists", path, signal);
  await watched([made], signal, [], async () => (await made.armed) === null);
}

/** False when somebody has been seated since; whether an entry has gone, the watch on it tells. */
function isSame(term: Term, seen: Leader | null): boolean {
  if (seen === null) return true;
  return term.record !== null && term.mzxid === seen.fence && term.version === seen.number;
}

async function readStanding(requests: Requests, path: string, name: string, leading: boolean, signal: Ender): Promise<Standing | null> {
  const read = await tolerate(requests.getData(path, signal), "NONODE");
  if (read === undefined) return null;
  const card = readCard(read.data, path);
  const { id, metadata } = typeof card === "string" ? { id: name, metadata: {} } : card;
  const { ephemeralOwner } = read.stat;
  return { entry: name, id, metadata, leading, session: ephemeralOwner === 0n ? null : sessionName(ephemeralOwner) };
}
