import type { Leader, Standing } from "../store.js";

/** A leader as every command of `tenure` writes it for programs: the fence is a string, because JSON's numbers are too small for it. */
export function leaderAsJson(leader: Leader | null): object | null {
  if (leader === null) return null;
  const { id, number, fence, since, metadata } = leader;
  return { id, number, fence: fence.toString(), since: since.toISOString(), metadata };
}

/** One of a queue, for programs. */
export function standingAsJson({ id, entry, leading, session, metadata }: Standing): object {
  return { id, entry, leading, session, metadata };
}

/** The first ten, and how many more there are. */
export function firstTen<T>(all: readonly T[], inWords: (one: T) => string): string {
  const more = all.length > 10 ? ` and ${all.length - 10} more` : "";
  return `${all.slice(0, 10).map(inWords).join(", ")}${more}`;
}

/** How long ago something was, for people. */
export function ago(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 0) return "in the future, by this machine's clock";
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} days ago`;
}

/** What others wrote into the store must not steer the reader's terminal. */
export function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\uFFFD");
}
