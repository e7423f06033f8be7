import { type InspectOptions, onSession } from "./on-session.js";
import { checkElection, show } from "./options.js";
import type { Standing, Store } from "./store.js";

/**
 * Takes a candidate out of an election by force: removes its entry, as `inspect` showed it. True: removed. False: it has
 * gone, or leads now and did not then (or the other way round), and nothing was done; look again.
 *
 * Work of an evicted leader is not waited for: it hears of the eviction within one watch, if it runs and reaches the store.
 * One that is paused or cut off believes until its own deadline, up to a session timeout from now, while the next one
 * leads: only its lower fence gives it away. One try: rejects with a StoreError at the first failure, after which it may
 * or may not have been evicted.
 */
export async function evict(
  store: Store,
  election: string,
  standing: Pick<Standing, "entry" | "leading">,
  options: InspectOptions = {},
): Promise<boolean> {
  const name = checkElection(election);
  const { entry, leading } = standing;
  if (typeof entry !== "string" || typeof leading !== "boolean") {
    throw new TypeError(`standing: expected one of the queue that inspect() shows, got ${show(standing)}`);
  }
  return onSession(store, options, (session, signal) =>
    session.attempt("evict", signal, (attempt) => session.session.evict(name, { entry, leading }, attempt)),
  );
}
