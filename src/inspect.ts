import { type InspectOptions, onSession } from "./on-session.js";
import { checkElection } from "./options.js";
import type { Leader, Standing, Store } from "./store.js";

/** Who leads and who stands, at one moment. */
export interface Inspection {
  readonly leader: Leader | null;
  /** Everybody who stands, in order, the leader first. */
  readonly queue: readonly Standing[];
}

/**
 * Looks at an election without standing in it: on the session that the electors of this store value share, or on one
 * that is opened and closed for it. One try: rejects with a StoreError at the first failure.
 */
export async function inspect(store: Store, election: string, options: InspectOptions = {}): Promise<Inspection> {
  const name = checkElection(election);
  return onSession(store, options, async (session, signal) => {
    const [leader, queue] = await Promise.all([
      session.attempt("leader", signal, (attempt) => session.session.leader(name, attempt)),
      session.attempt("queue", signal, (attempt) => session.session.queue(name, attempt)),
    ]);
    return { leader, queue };
  });
}
