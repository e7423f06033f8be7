import type { Ender } from "../../src/clock.js";
import { isZooKeeperError } from "./client/zookeeper-error.js";
import type { ElectionPaths } from "./zookeeper-paths.js";
import { byCreation, bySequence, type Entry, needsCreationOrder, readListing } from "./zookeeper-queue.js";
import type { Requests } from "./zookeeper-requests.js";

/** The queue in order, from the names listed. An entry that goes meanwhile may be left out, which only makes it later. */
export async function readQueue(
  requests: Requests,
  paths: ElectionPaths,
  children: readonly string[],
  signal: Ender,
): Promise<{ foreign: readonly string[]; order: readonly Entry[] }> {
  const { entries, foreign } = readListing(children);
  if (!needsCreationOrder(entries)) return { foreign, order: bySequence(entries) };
  const stats = await Promise.all(entries.map(({ name }) => requests.exists(paths.entry(name), signal)));
  const czxids = new Map<string, bigint>();
  for (const [index, { name }] of entries.entries()) {
    const stat = stats[index];
    if (stat) czxids.set(name, stat.czxid);
  }
  return { foreign, order: byCreation(entries, czxids) };
}

/** What was read; null if the node is missing. Any other failure is thrown. */
export function orMissing<T>(outcome: PromiseSettledResult<T>): T | null {
  if (outcome.status === "fulfilled") return outcome.value;
  if (isZooKeeperError(outcome.reason, "NONODE")) return null;
  throw outcome.reason;
}
