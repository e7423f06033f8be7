/** The value below which the share `p` (0 to 1) of the samples lies; the nearest one that was measured. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1))] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/** What is reported of times, in ms. */
export interface Spread {
  readonly n: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly min: number;
}

export function spread(samples: readonly number[]): Spread {
  return { n: samples.length, p50: median(samples), p99: percentile(samples, 0.99), max: Math.max(...samples), min: Math.min(...samples) };
}
