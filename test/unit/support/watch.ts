/** What became of a promise, as far as it has settled. */
export function watch<T>(promise: Promise<T>): { outcome: { value: T } | { error: unknown } | null } {
  const watched: { outcome: { value: T } | { error: unknown } | null } = { outcome: null };
  promise.then(
    (value) => {
      watched.outcome = { value };
    },
    (error) => {
      watched.outcome = { error };
    },
  );
  return watched;
}
