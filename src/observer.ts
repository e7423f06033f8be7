import { EventEmitter } from "eventemitter3";
import { Backoff } from "./backoff.js";
import { type Clock, sleep, systemClock } from "./clock.js";
import { StoppedError } from "./errors.js";
import { type Logger, silent } from "./logger.js";
import { checkClock, checkElection, checkLogger, checkStore, show } from "./options.js";
import { SessionPool } from "./session-pool.js";
import type { SharedSession } from "./shared-session.js";
import type { Leader, Store } from "./store.js";

export interface ObserveOptions {
  logger?: Logger;
  /** Default: the machine's. For tests. */
  clock?: Clock;
}

/** What an {@link Observer} tells. */
export interface ObserverEvents {
  /** Each new leader (null: nobody leads), and once the first that is seen. */
  change: (leader: Leader | null) => void;
  /** `current` may be out of date from now on; told once until it is `fresh` again, with the first failure. */
  stale: (error: unknown) => void;
  /** The store is watched again after it was `stale`; told before the change that this brings, which `current` shows already. */
  fresh: () => void;
}

const RETRY_BASE = 100;
const RETRY_CAP = 2000;
const EVENTS: readonly (keyof ObserverEvents)[] = ["change", "stale", "fresh"];

/**
 * Watches who leads without standing. It reconnects by itself. What it shows is what the store's server showed: it may lag
 * behind (ZooKeeper: each read follows a `sync`, so it is at most as old as the read), and is never a proof of anything.
 */
export class Observer {
  readonly election: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #pool: SessionPool;
  readonly #emitter = new EventEmitter<ObserverEvents & { closed: () => void }>();
  readonly #stop = new AbortController();
  readonly #retry: Backoff;
  readonly #running: Promise<void>;
  #current: Leader | null = null;
  #known = false;
  #staleSince: Date | null;
  /** Whether that was told. */
  #stale = false;

  constructor(store: Store, election: string, options: ObserveOptions) {
    this.election = checkElection(election);
    this.#clock = checkClock(options.clock ?? systemClock);
    this.#logger = checkLogger(options.logger ?? silent);
    this.#pool = SessionPool.of(checkStore(store), this.#clock);
    this.#retry = new Backoff(this.#clock, RETRY_BASE, RETRY_CAP);
    this.#staleSince = new Date(this.#clock.wall());
    this.#running = this.#run();
  }

  /** Who leads, as last seen; null: nobody, or not known yet. */
  get current(): Leader | null {
    return this.#current;
  }

  /** Null while the store is watched; else since when `current` may be out of date. */
  get staleSince(): Date | null {
    return this.#staleSince;
  }

  /** Calls `listener` at each such event. Returns what removes it. */
  on<K extends keyof ObserverEvents>(event: K, listener: ObserverEvents[K]): () => void {
    if (!EVENTS.includes(event)) throw new TypeError(`expected one of the events ${EVENTS.join(", ")}, got ${show(event)}`);
    if (typeof listener !== "function") throw new TypeError(`listener of "${event}": expected a function, got ${typeof listener}`);
    const call = (...told: unknown[]) => {
      // One that throws or rejects must not end the watch.
      (async () => (listener as (...told: unknown[]) => unknown)(...told))().catch((error) =>
        this.#warn(error, `listener of "${event}" failed`),
      );
    };
    this.#emitter.on(event, call as never);
    return () => this.#emitter.off(event, call as never);
  }

  /** Ends the watch; resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#stop.abort(new StoppedError("the observer was closed"));
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Each change from now on, the present leader first (once it is known); ends with `close()`. Changes that a slow reader misses are skipped. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Leader | null, void, undefined> {
    let told: Leader | null | undefined;
    while (!this.#stop.signal.aborted) {
      if (this.#known && told !== this.#current) {
        told = this.#current;
        yield told;
        continue;
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#emitter.off("change", wake).off("closed", wake);
          resolve();
        };
        this.#emitter.on("change", wake).on("closed", wake);
      });
    }
  }

  async #run(): Promise<void> {
    const stop = this.#stop.signal;
    while (!stop.aborted) {
      let session: SharedSession | null = null;
      try {
        session = await this.#pool.acquire({ signal: stop, onTrouble: (error) => this.#trouble(error) });
        for (;;) await this.#follow(session);
      } catch (error) {
        if (!stop.aborted) this.#trouble(error);
      } finally {
        if (session) await this.#pool.release(session);
      }
      if (!stop.aborted) await sleep(this.#clock, this.#retry.next(), stop).catch(() => {});
    }
    this.#emitter.emit("closed");
  }

  /** Reads, tells what is new, and waits until it may have changed. */
  async #follow(shared: SharedSession): Promise<void> {
    const { session } = shared;
    const stop = this.#stop.signal;
    const leader = await shared.attempt("leader", stop, (signal) => session.leader(this.election, signal));
    this.#retry.reset();
    const isNew = !this.#known || !sameTerm(leader, this.#current);
    this.#known = true;
    this.#staleSince = null;
    if (isNew) this.#current = leader;
    if (this.#stale) {
      this.#stale = false;
      this.#emitter.emit("fresh");
    }
    if (isNew) this.#emitter.emit("change", leader);
    await shared.wait(stop, (signal) => session.changed(this.election, leader, signal));
  }

  #trouble(error: unknown): void {
    this.#staleSince ??= new Date(this.#clock.wall());
    this.#warn(error, "observing");
    if (this.#stale) return;
    this.#stale = true;
    this.#emitter.emit("stale", error);
  }

  #warn(error: unknown, what: string): void {
    this.#logger.warn({ election: this.election, err: error }, `${what}: ${error instanceof Error ? error.message : show(error)}`);
  }
}

function sameTerm(a: Leader | null, b: Leader | null): boolean {
  return a === b || (a !== null && b !== null && a.fence === b.fence && a.id === b.id);
}

/** Watches who leads `election`, without standing. Throws a {@link ConfigError} for a bad name. */
export function observe(store: Store, election: string, options: ObserveOptions = {}): Observer {
  return new Observer(store, election, options);
}
