import { type Clock, sleep, type Timer } from "../clock.js";
import { ConfigError, StoreError } from "../errors.js";
import type { Logger } from "../logger.js";
import { type Observer, observe } from "../observer.js";
import type { Leader, Store } from "../store.js";
import { EXIT } from "./exit-codes.js";
import { failureOf } from "./failures.js";
import { clean, leaderAsJson } from "./shown.js";

/** `tenure watch`, its arguments read. */
export interface WatchOptions {
  readonly store: Store;
  readonly election: string;
  readonly json: boolean;
  /** ms; null: never. */
  readonly alertAfter: number | null;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Writes a line for the reader. */
  readonly tell: (line: string) => void;
  /** Writes a line for people, when lines are not JSON. */
  readonly warn: (line: string) => void;
  /** Takes secrets out of the message of an error. */
  readonly redact: (text: string) => string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** A store that does not answer may not keep who wants to end the watch, ms. */
const CLOSING = 2000;

/** Tells who leads, and each change, until the signal or the alert ends it. Resolves with the exit code. */
export async function watch(options: WatchOptions): Promise<number> {
  const { store, election, alertAfter, clock, logger, signal } = options;
  if (alertAfter !== null && alertAfter <= 0) throw new ConfigError("--alert-after", "expected more than 0s");
  if (signal.aborted) return EXIT.ok;
  const observer = observe(store, election, { clock, logger });
  try {
    return await new Watcher(options, observer).code;
  } finally {
    const closed = new AbortController();
    await Promise.race([observer.close(), sleep(clock, CLOSING, closed.signal).catch(() => {})]);
    closed.abort(signal.reason);
  }
}

/** What one observer tells, in lines. */
class Watcher {
  readonly code: Promise<number>;
  readonly #options: WatchOptions;
  readonly #observer: Observer;
  #end: (code: number) => void = () => {};
  #over = false;
  /** Whether anything was seen yet. */
  #seen = false;
  /** Why nothing is seen. */
  #blind: { readonly error: unknown; readonly since: Date } | null = null;
  /** Since when nobody was seen to lead. */
  #since: Date;
  #alarm: Timer | null = null;

  constructor(options: WatchOptions, observer: Observer) {
    const { signal } = options;
    this.#options = options;
    this.#observer = observer;
    this.#since = this.#now();
    this.code = new Promise((resolve) => {
      this.#end = (code) => {
        this.#over = true;
        this.#disarm();
        resolve(code);
      };
    });
    signal.addEventListener("abort", () => this.#end(EXIT.ok), { once: true });
    observer.on("change", (leader) => this.#over || this.#onChange(leader));
    observer.on("stale", (error) => this.#over || this.#onStale(error));
    observer.on("fresh", () => this.#over || this.#onFresh());
    this.#arm();
  }

  #onChange(leader: Leader | null): void {
    this.#seen = true;
    this.#tell("leader", { leader: leaderAsJson(leader) }, leader ? inWords(leader) : "nobody leads");
    if (leader) this.#disarm();
    else this.#arm();
  }

  #onStale(error: unknown): void {
    const { code, line } = failureOf(error);
    // Trying on would not cure it, and it has never worked: the address, the credentials or the root are wrong.
    if (!this.#seen && error instanceof StoreError && !error.transient && error.code !== "session-ended") {
      this.#options.warn(line);
      return this.#end(code);
    }
    this.#blind = { error, since: this.#now() };
    this.#warn("blind", { error: errorAsJson(error, this.#options.redact) }, `lost sight of the store: ${line}`);
    this.#arm();
  }

  #onFresh(): void {
    this.#warn("sighted", { blindSince: this.#blind?.since.toISOString() ?? null }, "sees the store again");
    this.#blind = null;
    if (this.#observer.current) this.#disarm();
  }

  /** Nobody is seen to lead from now on, whether nobody does or nothing is seen. */
  #arm(): void {
    const { alertAfter, clock } = this.#options;
    if (alertAfter === null || this.#alarm) return;
    this.#since = this.#now();
    this.#alarm = clock.after(alertAfter, () => this.#alert(alertAfter));
  }

  #disarm(): void {
    this.#alarm?.cancel();
    this.#alarm = null;
  }

  #alert(ms: number): void {
    const reason = this.#observer.staleSince ? "no-sight" : "no-leader";
    const why = reason === "no-leader" ? "" : ", and the store is out of sight: who leads is not known";
    const since = this.#since.toISOString();
    this.#warn("alert", { reason, since }, `nobody was seen to lead for ${ms / 1000} s, since ${since}${why}`);
    if (reason === "no-leader") return this.#end(EXIT.alert);
    this.#end(this.#blind ? failureOf(this.#blind.error).code : EXIT.unreachable);
  }

  #warn(type: string, more: object, words: string): void {
    if (this.#options.json) this.#tell(type, more, words);
    else this.#options.warn(words);
  }

  #tell(type: string, more: object, words: string): void {
    const { election, json, tell } = this.#options;
    const time = this.#now().toISOString();
    tell(json ? JSON.stringify({ type, time, election, ...more }) : `${time}  ${words}`);
  }

  #now(): Date {
    return new Date(this.#options.clock.wall());
  }
}

function inWords({ id, number, fence, since }: Leader): string {
  return `led by ${clean(id)}  number ${number}  fence ${fence}  since ${since.toISOString()}`;
}

function errorAsJson(error: unknown, redact: (text: string) => string): object {
  const { code = "internal" } = error as { code?: string };
  return { code, message: redact(error instanceof Error ? error.message : String(error)) };
}
