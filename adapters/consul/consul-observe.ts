import type { Ender } from "../../src/clock.js";
import type { Leader, Standing, Survey } from "../../src/store.js";
import type { ConsulClient, Entry, Found } from "./client/consul-wire.js";
import { waiting } from "./consul-lifetime.js";
import { type ElectionPaths, electionPaths } from "./consul-paths.js";
import { Poll } from "./consul-poll.js";
import { asStoreError } from "./consul-requests.js";
import type { SessionParts } from "./consul-surroundings.js";
import { leaderOf, readView, seatOperations, type View, viewOf, viewOperations } from "./consul-view.js";

type Reading = Pick<SessionParts, "requests" | "prefix">;

/** A consistent read. */
export async function readLeader({ requests, prefix }: Reading, election: string, signal: Ender): Promise<Leader | null> {
  return leaderOf(await readSeat({ requests, prefix }, electionPaths(prefix, election), signal));
}

/** A consistent read. */
export async function readStandings(parts: Reading, election: string, signal: Ender): Promise<Standing[]> {
  const paths = electionPaths(parts.prefix, election);
  const view = await readElection(parts, paths, signal);
  const waiters = view.queue.map(({ name, id, metadata, session }) => ({ entry: name, id, metadata, leading: false, session }));
  const holder = holderOf(paths, view);
  return holder ? [holder, ...waiters] : waiters;
}

/** A consistent read. */
export async function readSurvey(parts: Reading, election: string, signal: Ender): Promise<Survey | null> {
  const view = await readElection(parts, electionPaths(parts.prefix, election), signal);
  if (view.lock === null && view.fence === 0 && view.queue.length === 0) return null;
  return { leader: leaderOf(view), waiting: view.queue.length };
}

export async function readElections(
  { lifetime, prefix }: Pick<SessionParts, "lifetime" | "prefix">,
  client: ConsulClient,
  signal: Ender,
): Promise<string[] | null> {
  const base = `${prefix}/`;
  const names = await waiting<string[]>(lifetime, signal, (resolve, reject) => {
    client.names(base, signal).then(resolve, reject);
    return () => {};
  });
  const found = names
    .map((name) => name.slice(base.length).replace(/\/$/, ""))
    .filter((name) => !/^_(session|mail)$/.test(name) && name !== "");
  return found.length === 0 ? null : [...new Set(found)];
}

/** By a blocking query on the lock, one for each that waits; in default consistency: it may be late by a leader lease (2.5 s by default). */
export async function leaderChanged(
  parts: SessionParts,
  client: ConsulClient,
  election: string,
  seen: Leader | null,
  signal: Ender,
): Promise<void> {
  const paths = electionPaths(parts.prefix, election);
  const view = await readSeat(parts, paths, signal);
  const now = leaderOf(view);
  if (now?.fence !== seen?.fence || now?.id !== seen?.id) return;
  const index = view.lock?.modifyIndex ?? 0;
  const same = ({ entries }: Found) => (entries[0]?.modifyIndex ?? 0) === index;
  await waiting<void>(parts.lifetime, signal, (resolve) => {
    const found = (what: Found) => {
      if (!same(what)) resolve();
    };
    const poll = new Poll(client, parts.clock, { key: paths.leader, recurse: false }, index, { found, fell: () => {} });
    return () => poll.close();
  });
}

export async function readElection({ requests }: Pick<Reading, "requests">, paths: ElectionPaths, signal: Ender): Promise<View> {
  try {
    return readView(paths, await requests.read(viewOperations(paths), signal));
  } catch (error) {
    throw asStoreError(error);
  }
}

async function readSeat({ requests }: Reading, paths: ElectionPaths, signal: Ender): Promise<View> {
  try {
    const [lock, term] = (await requests.read(seatOperations(paths), signal)) as [Entry | null, Entry | null];
    return viewOf(paths, [], lock, term);
  } catch (error) {
    throw asStoreError(error);
  }
}

/** Whoever holds the lock: a leader, an operator who keeps the seat free, or somebody who is not tenure's. */
function holderOf(paths: ElectionPaths, view: View): Standing | null {
  const session = view.lock?.session ?? null;
  if (session === null) return null;
  const { term, holder } = view;
  if (leaderOf(view) !== null && term) return { entry: term.entry, id: term.id, metadata: term.metadata, leading: true, session };
  if (holder?.stead && holder.entry !== null) return { entry: holder.entry, ...holder.stead, leading: false, session };
  return { entry: paths.leader, id: "(a lock that is not tenure's)", metadata: {}, leading: true, session };
}
