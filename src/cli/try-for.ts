import { type Clock, sleep } from "../clock.js";
import { StoreError, timedOut } from "../errors.js";
import type { Store } from "../store.js";

/** Between two tries, ms. */
const PAUSE = 200;

/**
 * Tries `attempt` again and again for `timeout` ms, unless no server was there at all or trying again cures nothing.
 * Rejects with the failure that came last.
 */
export async function tryFor<T>(timeout: number, store: Store, clock: Clock, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = clock.after(timeout, () => limit.abort(timedOut(store.name, timeout)));
  let last: unknown = null;
  try {
    for (;;) {
      try {
        return await attempt(limit.signal);
      } catch (error) {
        if (limit.signal.aborted) throw last ?? error;
        last = error;
        if (!(error instanceof StoreError && error.transient && error.code !== "unreachable")) throw error;
        await sleep(clock, PAUSE, limit.signal).catch(() => {});
        if (limit.signal.aborted) throw error;
      }
    }
  } finally {
    timer.cancel();
  }
}
