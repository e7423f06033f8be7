import { setTimeout as sleep } from "node:timers/promises";

/**
 * For what is meant to happen, ms: long enough for a machine that is ten times slower, or pauses for seconds. When something has
 * to happen within less, that is a promise of its own: a test compares it with what the protocol does otherwise, not with this.
 */
export const PATIENCE = 30_000;

/**
 * Waits until `condition` returns (or resolves to) something truthy, and resolves to that. A condition that throws counts as
 * not yet fulfilled.
 * @throws Error that names `what`, the time (default: {@link PATIENCE}) and what the last attempt came to.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: { timeout?: number; every?: number; what: string },
): Promise<Exclude<T, false | null | undefined | 0 | "">> {
  const { timeout = PATIENCE, every = 10, what } = options;
  const end = performance.now() + timeout;
  let last: unknown;
  for (;;) {
    try {
      const value = await within(condition(), end - performance.now());
      if (value) return value as Exclude<T, false | null | undefined | 0 | "">;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= end) {
      throw new Error(`not within ${timeout} ms: ${what} (last: ${last instanceof Error ? last.message : String(last)})`, { cause: last });
    }
    await sleep(every);
  }
}

/** Settles as `promise` does, or rejects after `ms`, with an error that names `what`. */
export async function within<T>(promise: T | Promise<T>, ms: number, what = "the attempt was still pending"): Promise<T> {
  if (!(promise instanceof Promise)) return promise;
  const timer = new AbortController();
  const timeout = sleep(Math.max(ms, 1), undefined, { signal: timer.signal }).then(
    () => Promise.reject(new Error(`not within ${Math.round(ms)} ms: ${what}`)),
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    timer.abort();
  }
}
