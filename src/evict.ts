import { sleep } from "./clock.js";
import { type Duration, parseDuration } from "./duration.js";
import { StoreError } from "./errors.js";
import { type InspectOptions, onSession } from "./on-session.js";
import { checkElection, show } from "./options.js";
import type { SharedSession } from "./shared-session.js";
import type { Standing, Store } from "./store.js";

export interface EvictOptions extends InspectOptions {
  /**
   * How long the seat of an evicted leader is kept free at most: as long as its session timeout, or it may believe longer.
   * Default: the session timeout granted here. 0: not at all.
   */
  hold?: Duration;
}

/**
 * What came of it:
 * - `refused`: it has gone, or leads and did not when it was seen (or the other way round); nothing was done, look again
 * - `settled`: evicted; it stands again, so its work has ended, or the hold has lasted its time, so its deadline has passed
 * - `open`: evicted; it may still believe that it leads, and work may still run, while the next one leads
 */
export type Eviction = "refused" | "settled" | "open";

/** So often is looked whether an evicted leader stands again, ms. */
const PACE = 500;
const TRIES = 3;

/**
 * Takes a candidate out of an election by force: removes its entry, as `inspect` showed it. It stands again at the tail.
 *
 * A leader hears of it within one watch, if it runs and reaches the store; one that is paused or cut off believes until its
 * deadline. So its seat is kept free (by an entry of this process, shown as `tenure evict`) until it stands again, or for
 * `hold`: nobody leads meanwhile, and no two terms are valid at once. Rejects with a StoreError when the store fails
 * before that is known to be done, or with the reason of the signal; then it may have been evicted without a hold.
 */
export async function evict(store: Store, election: string, standing: Standing, options: EvictOptions = {}): Promise<Eviction> {
  const name = checkElection(election);
  if (typeof standing?.entry !== "string" || typeof standing.leading !== "boolean") {
    throw new TypeError(`standing: expected one of the queue that inspect() shows, got ${show(standing)}`);
  }
  const given = options.hold === undefined ? null : parseDuration("hold", options.hold);
  return onSession(store, options, async (session, signal) => {
    const { entry, leading } = standing;
    // An entry without a session has nobody who could believe.
    const believes = leading && standing.session !== null;
    const hold = believes ? (given ?? session.timing.ttl) : 0;
    const before = hold > 0 ? await entries(session, name, signal) : [];
    const card = hold > 0 ? { id: "tenure evict", metadata: { evicted: standing.id } } : null;
    const attempt = () => session.attempt("evict", signal, (each) => session.session.evict(name, { entry, leading }, card, each));
    const evicted = await repeated(attempt, card === null ? 1 : TRIES);
    if (evicted === null) return "refused";
    if (evicted.stead === null) return believes ? "open" : "settled";
    const stead = { entry: evicted.stead, leading: false };
    try {
      return await settled(session, name, { evicted: standing, stead: stead.entry, before, hold }, signal);
    } finally {
      // If that fails, it goes with the session at the latest.
      await repeated(() => session.farewell("evict", (each) => session.session.evict(name, stead, null, each)), TRIES).catch(() => {});
    }
  });
}

/** Waits until the evicted leader stands again, on the session that it had. */
async function settled(
  session: SharedSession,
  election: string,
  { evicted, stead, before, hold }: { evicted: Standing; stead: string; before: readonly Standing[]; hold: number },
  signal: AbortSignal,
): Promise<Eviction> {
  const { clock } = session;
  const end = clock.mono() + hold;
  const old = new Set(before.map(({ entry }) => entry));
  const isAgain = (one: Standing) => one.session === evicted.session && one.id === evicted.id && !old.has(one.entry);
  while (!session.closing.aborted) {
    const queue = await entries(session, election, signal).catch((error) => passing(error));
    if (evicted.session !== null && queue?.some(isAgain)) return "settled";
    // Somebody has removed the stead: the seat may have been taken already.
    if (queue && !queue.some(({ entry }) => entry === stead)) return "open";
    const left = end - clock.mono();
    if (left <= 0 && queue) return "settled";
    await sleep(clock, left > 0 ? Math.min(PACE, left) : PACE, signal);
  }
  return "open";
}

function entries(session: SharedSession, election: string, signal: AbortSignal): Promise<Standing[]> {
  return session.attempt("queue", signal, (attempt) => session.session.queue(election, attempt));
}

async function repeated<T>(attempt: () => Promise<T>, tries: number): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (--tries === 0) throw error;
      passing(error);
    }
  }
}

/** Throws `error` unless trying again may help. */
function passing(error: unknown): null {
  if (error instanceof StoreError && error.transient) return null;
  throw error;
}
