interface Waiters {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiters>();

/**
 * Calls `fn` when `signal` aborts; returns what stops that. One listener for each signal, however many requests wait for
 * it: Node warns of a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  const waiters = waiting.get(signal) ?? listen(signal);
  waiters.calls.add(fn);
  return () => {
    waiters.calls.delete(fn);
    if (waiters.calls.size > 0 || waiting.get(signal) !== waiters) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", waiters.listener);
  };
}

function listen(signal: AbortSignal): Waiters {
  const calls = new Set<() => void>();
  const listener = () => {
    waiting.delete(signal);
    for (const call of calls) call();
  };
  const waiters = { calls, listener };
  waiting.set(signal, waiters);
  signal.addEventListener("abort", listener, { once: true });
  return waiters;
}
