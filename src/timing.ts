import { ConfigError } from "./errors.js";

/** What every timer of a session is derived from; all in ms. */
export interface Timing {
  /** As the store granted it. */
  readonly ttl: number;
  /** How much older than its proof the instant may be that the proof vouches for. */
  readonly gap: number;
  /** Taken off every deadline, for clocks that run at different speeds and for timers that fire late. */
  readonly margin: number;
  /** From one proof (or touch) to the next. */
  readonly interval: number;
}

const LONGEST_INTERVAL = 3000;
const LEAST_MARGIN = 250;
/** A reply counts for the proof after it only when it has arrived before that; this much is allowed for its way. */
const REPLY_SLACK = 250;

export function timingOf(session: { readonly ttl: number; readonly gap: number }): Timing {
  const { ttl, gap } = session;
  return { ttl, gap, margin: Math.max(0.02 * ttl, LEAST_MARGIN), interval: Math.min(ttl / 5, LONGEST_INTERVAL) };
}

/** The reserve of a term when none was asked for, ms. */
export function defaultReserve(ttl: number): number {
  return ttl / 8;
}

/** The longest reserve with which one lost proof does not close admission, ms. */
export function longestReserve({ ttl, gap, margin, interval }: Timing): number {
  const behind = gap === 0 ? 0 : Math.ceil((gap + REPLY_SLACK) / interval) * interval;
  return ttl - behind - 2 * interval - margin;
}

/** Throws a ConfigError when `reserve` does not fit what the store granted (DESIGN section 4; test: timing.test.ts). */
export function checkReserve(reserve: number, asked: boolean, timing: Timing): void {
  const longest = longestReserve(timing);
  if (reserve <= longest) return;
  const numbers =
    `the store granted a session timeout of ${ms(timing.ttl)}; with a proof every ${ms(timing.interval)} that may vouch for an ` +
    `instant ${ms(timing.gap)} older, and a margin of ${ms(timing.margin)}`;
  const most = longest > 0 ? `it may be at most ${ms(longest)}` : "no reserve is short enough";
  const advice = asked && longest > 0 ? "Lower `reserve` or raise the session timeout" : "Raise the session timeout";
  const tick = timing.gap > 0 ? ", or tell the server's `tickTime`" : "";
  throw new ConfigError("reserve", `${ms(reserve)} is too long: ${numbers}, ${most}. ${advice}${tick}.`);
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
