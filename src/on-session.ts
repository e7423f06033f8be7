import { type Clock, systemClock } from "./clock.js";
import { checkClock, checkStore } from "./options.js";
import { SessionPool } from "./session-pool.js";
import type { SharedSession } from "./shared-session.js";
import type { Store } from "./store.js";

export interface InspectOptions {
  signal?: AbortSignal;
  /** Default: the machine's. For tests. */
  clock?: Clock;
}

/**
 * For who does not stand: one try of `use`, on the session that the electors of this store value share, or on one that is
 * opened and closed for it.
 */
export async function onSession<T>(
  store: Store,
  options: InspectOptions,
  use: (session: SharedSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = options.signal ?? new AbortController().signal;
  const pool = SessionPool.of(checkStore(store), checkClock(options.clock ?? systemClock));
  const session = await pool.acquire({ signal, once: true });
  try {
    return await use(session, signal);
  } finally {
    await pool.release(session);
  }
}
