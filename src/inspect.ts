import { type Clock, systemClock } from "./clock.js";
import { checkClock, checkElection, checkStore } from "./options.js";
import { SessionPool } from "./session-pool.js";
import type { Leader, Standing, Store } from "./store.js";

export interface InspectOptions {
  signal?: AbortSignal;
  /** Default: the machine's. For tests. */
  clock?: Clock;
}

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
  const signal = options.signal ?? new AbortController().signal;
  const pool = SessionPool.of(checkStore(store), checkClock(options.clock ?? systemClock));
  const session = await pool.acquire({ signal, once: true });
  try {
    const [leader, queue] = await Promise.all([
      session.attempt("leader", signal, (attempt) => session.session.leader(name, attempt)),
      session.attempt("queue", signal, (attempt) => session.session.queue(name, attempt)),
    ]);
    return { leader, queue };
  } finally {
    await pool.release(session);
  }
}
