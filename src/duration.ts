import { ConfigError } from "./errors.js";

/** A length of time: a number is milliseconds; a text carries its unit (`"250ms"`, `"1.5s"`, `"2m"`, `"1h"`). */
export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const TEXT = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
/** Beyond this a sum of milliseconds is not exact any more. */
const LONGEST = Number.MAX_SAFE_INTEGER;

/** Milliseconds of an option that may be a number. Throws {@link ConfigError} naming `option`, what is expected, and what came. */
export function parseDuration(option: string, value: unknown): number {
  if (typeof value === "number") return checked(option, value, value);
  if (typeof value === "string") return parseDurationText(option, value);
  throw wrong(option, value, `a number of milliseconds, or a text such as "250ms", "5s", "2m" or "1h"`);
}

/** Milliseconds of a text in which the unit is required: in URLs and on the command line. Throws as {@link parseDuration}. */
export function parseDurationText(option: string, text: string): number {
  const [, amount, unit] = TEXT.exec(text) ?? [];
  if (amount === undefined || unit === undefined) {
    throw wrong(option, text, `a number with its unit, such as "250ms", "5s", "2m" or "1h"`);
  }
  return checked(option, Number(amount) * (UNITS[unit] ?? Number.NaN), text);
}

/** The shortest text that {@link parseDurationText} reads as `ms`: `90_000` is `"90s"`. */
export function formatDuration(ms: number): string {
  for (const [unit, size] of Object.entries(UNITS)) {
    if (ms !== 0 && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

function checked(option: string, ms: number, came: unknown): number {
  if (!(ms >= 0 && ms <= LONGEST)) throw wrong(option, came, "a length of time that is finite and not negative");
  return ms;
}

function wrong(option: string, came: unknown, expected: string): ConfigError {
  return new ConfigError(option, `expected ${expected}, got ${shown(came)}`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
