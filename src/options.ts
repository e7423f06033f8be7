import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type Clock, systemClock } from "./clock.js";
import { type Duration, parseDuration } from "./duration.js";
import { ConfigError } from "./errors.js";
import { harmless, type Logger, silent } from "./logger.js";
import type { Card, Store } from "./store.js";

export interface ElectorOptions {
  /** Where the election is held. Electors made on the same store value share one session. */
  store: Store;
  /** The name of the seat: 1 to 200 of `[A-Za-z0-9._-]`, not `.` or `..`, no leading `_`. */
  election: string;
  /** How this candidate is shown; 1 to 200 characters. Default: host name, process id and a random part. */
  id?: string;
  /** Shown beside the id; a plain object of JSON, at most 64 KiB. Default `{}`. */
  metadata?: Readonly<Record<string, unknown>>;
  /** How long a draining term waits for its work before its deadline stands still. Default 30 s. */
  drain?: Duration;
  /** How long before the deadline admission closes. Default 1/8 of the granted ttl. */
  reserve?: Duration;
  /**
   * What to do when work outlives the deadline: `"event"` (default) only tells (`lost`, reason `overrun`); `"exit"` ends
   * the process with status 70, and with it every election of the process.
   */
  overrun?: "event" | "exit";
  /** A pino instance fits. Default: silent. */
  logger?: Logger;
  /** Default: the machine's. For tests. */
  clock?: Clock;
}

/** Options with their defaults, checked. */
export interface Settings {
  readonly store: Store;
  readonly election: string;
  readonly card: Card;
  /** ms */
  readonly drain: number;
  /** ms; null: 1/8 of the granted ttl. */
  readonly reserve: number | null;
  readonly overrun: "event" | "exit";
  readonly logger: Logger;
  readonly clock: Clock;
}

const DEFAULT_DRAIN = 30_000;
const LARGEST_METADATA = 64 * 1024;
const KNOWN = new Set(["store", "election", "id", "metadata", "drain", "reserve", "overrun", "logger", "clock"]);

/** Throws a ConfigError that names the option, what was expected and what came. */
export function settingsOf(options: ElectorOptions): Settings {
  if (typeof options !== "object" || options === null) throw new TypeError(`options: expected an object, got ${show(options)}`);
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw new ConfigError(name, `there is no such option; there are ${[...KNOWN].join(", ")}`);
  }
  const id = options.id ?? defaultId();
  if (typeof id !== "string" || id.length === 0 || id.length > 200) {
    throw new ConfigError("id", `expected a string of 1 to 200 characters, got ${show(id)}`);
  }
  const overrun = options.overrun ?? "event";
  if (overrun !== "event" && overrun !== "exit") throw new ConfigError("overrun", `expected "event" or "exit", got ${show(overrun)}`);
  return {
    store: checkStore(options.store),
    election: checkElection(options.election),
    card: { id, metadata: checkMetadata(options.metadata ?? {}) },
    drain: options.drain === undefined ? DEFAULT_DRAIN : parseDuration("drain", options.drain),
    reserve: options.reserve === undefined ? null : parseDuration("reserve", options.reserve),
    overrun,
    logger: checkLogger(options.logger ?? silent),
    clock: checkClock(options.clock ?? systemClock),
  };
}

/** Names of elections: one rule for all stores. */
export function isElection(name: string): boolean {
  return /^(?!_)(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/.test(name);
}

/** Throws a ConfigError for what no election can be called. */
export function checkElection(name: unknown): string {
  if (typeof name === "string" && isElection(name)) return name;
  throw new ConfigError(
    "election",
    `expected a name of 1 to 200 of the characters A-Z a-z 0-9 . _ - that does not begin with _ and is not . or .., got ${show(name)}`,
  );
}

export function checkStore(store: unknown): Store {
  if (typeof (store as Store | null)?.open === "function") return store as Store;
  throw new ConfigError("store", `expected a store, such as zookeeper("zk1:2181"), got ${show(store)}`);
}

export function checkLogger(logger: unknown): Logger {
  if (has(logger, ["debug", "info", "warn", "error"])) return harmless(logger as Logger);
  throw new ConfigError("logger", `expected an object with debug, info, warn and error, got ${show(logger)}`);
}

export function checkClock(clock: unknown): Clock {
  if (has(clock, ["mono", "wall", "after", "random"])) return clock as Clock;
  throw new ConfigError("clock", `expected an object with mono, wall, after and random, got ${show(clock)}`);
}

function has(value: unknown, methods: readonly string[]): boolean {
  return methods.every((method) => typeof (value as Record<string, unknown> | null)?.[method] === "function");
}

function checkMetadata(metadata: unknown): Readonly<Record<string, unknown>> {
  let text: string | undefined;
  try {
    text = JSON.stringify(metadata);
  } catch (error) {
    throw new ConfigError("metadata", `expected what JSON can hold: ${(error as Error).message}`, { cause: error });
  }
  // As JSON: a Date becomes a text, a function nothing.
  if (!text?.startsWith("{")) throw new ConfigError("metadata", `expected a plain object, got ${show(metadata)}`);
  const size = Buffer.byteLength(text);
  if (size > LARGEST_METADATA) throw new ConfigError("metadata", `expected at most ${LARGEST_METADATA} bytes of JSON, got ${size}`);
  return JSON.parse(text);
}

function defaultId(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`.slice(-200);
}

/** A value as it is shown in an error: quoted, and not longer than a line. */
export function show(value: unknown): string {
  let text: string;
  try {
    text = typeof value === "string" ? JSON.stringify(value) : String(value);
  } catch {
    text = `something that cannot be shown (${typeof value})`;
  }
  return text.length > 80 ? `${text.slice(0, 77)}… (${text.length} characters)` : text;
}
