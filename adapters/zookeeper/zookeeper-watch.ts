import { onAbort } from "./zookeeper-client-abort.js";
import { isZooKeeperError } from "./zookeeper-error.js";
import type { Watch } from "./zookeeper-wire.js";

/** What `watched` answers when nothing was missing: a watch fired. */
export const FIRED = -1;

/**
 * Waits until the first of `watches` fires, and lets go of all of them. If a watched node is missing, it answers its
 * index at once. `current` was asked after the watches, in the same flight: false means that what they were to notice had
 * happened before they were armed.
 */
export async function watched(
  watches: readonly Watch[],
  signal: AbortSignal,
  current: Promise<boolean> = Promise.resolve(true),
): Promise<number> {
  try {
    const [state, ...armed] = await Promise.allSettled([current, ...watches.map((watch) => watch.armed)]);
    for (const [index, outcome] of armed.entries()) {
      if (outcome.status === "fulfilled") continue;
      if (isZooKeeperError(outcome.reason, "NONODE")) return index;
      throw outcome.reason;
    }
    if (state.status === "rejected") throw state.reason;
    if (state.value)
      await firstOf(
        watches.map((watch) => watch.fired),
        signal,
      );
    return FIRED;
  } finally {
    for (const watch of watches) watch.release();
  }
}

function firstOf(promises: readonly Promise<void>[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const forget = onAbort(signal, () => reject(signal.reason));
    for (const promise of promises) {
      void promise.then(() => {
        forget();
        resolve();
      });
    }
  });
}
