import { type ZooKeeperOptions, zookeeper } from "../../../adapters/zookeeper/index.js";
import { type DrainingError, Elector, type ElectorOptions, type LostError, type Store, type Term } from "../../../src/index.js";
import { until } from "../../support/wait-for.js";
import { now } from "./now.js";

export type Happening = "standby" | "elected" | "suspect" | "restored" | "draining" | "lost" | "stopped" | "warning";

/** One event of an elector. */
export interface Told {
  readonly what: Happening;
  /** `now()` at its delivery. */
  readonly at: number;
  /** Of `lost` and `draining`. */
  readonly reason: string;
  /** Of `elected`. */
  readonly term: Term | null;
  /** Of `stopped` and `warning`. */
  readonly error: Error | null;
}

/**
 * How long the work of each term runs: not at all; until its signal aborts (or until somebody asks it to end, so that a
 * candidate can be stopped); or as the function says.
 */
export type WorkKind = "none" | "until-over" | ((term: Term) => Promise<unknown>);

export interface CandidateOptions extends Partial<Omit<ElectorOptions, "store">> {
  /** A store of its own is made for `servers` and what follows, unless one is given. */
  readonly store?: Store | ZooKeeperOptions;
  readonly work?: WorkKind;
  /** Called inside the `elected` listener. */
  readonly onElected?: (term: Term) => void;
}

/** An elector on its own session (unless it shares a store), and a record of all that it told. */
export class Candidate {
  readonly elector: Elector;
  readonly store: Store;
  readonly told: Told[] = [];

  constructor({ store, work = "none", onElected, ...options }: CandidateOptions & { readonly store: Store | ZooKeeperOptions }) {
    this.store = "open" in store ? store : zookeeper(store);
    this.elector = new Elector({ election: "seat", ...options, store: this.store });
    for (const what of HAPPENINGS) {
      this.elector.on(what, (event?: unknown) => {
        const { reason = "", error = null } = (what === "warning" ? { error: event } : (event ?? {})) as {
          reason?: string;
          error?: Error | null;
        };
        const term = what === "elected" ? (event as Term) : null;
        this.told.push({ what, at: now(), reason, term, error });
        if (!term) return undefined;
        onElected?.(term);
        return work === "none" ? undefined : work === "until-over" ? untilOver(term) : work(term);
      });
    }
  }

  get isLeader(): boolean {
    return this.elector.isLeader;
  }

  start(): this {
    this.elector.start();
    return this;
  }

  stop(): Promise<void> {
    return this.elector.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  all(what: Happening): Told[] {
    return this.told.filter((told) => told.what === what);
  }

  count(what: Happening): number {
    return this.all(what).length;
  }

  /** As they came, `lost` and `draining` with their reason: for comparisons. */
  story(from = 0): string[] {
    return this.told.slice(from).map(({ what, reason }) => (reason ? `${what}:${reason}` : what));
  }

  /** {@link story}, without the suspicions: a machine that pauses brings them about at any time. */
  deeds(from = 0): string[] {
    return this.story(from).filter((what) => what !== "suspect" && what !== "restored");
  }

  /** The next such event that is told after the first `from` events of all kinds (default: from now on). */
  async next(what: Happening, from = this.told.length): Promise<Told> {
    const find = () => this.told.slice(from).find((told) => told.what === what);
    try {
      return await until(find, { every: 2, what: `${this.elector.id} tells "${what}"` });
    } catch (error) {
      const errors = this.told.flatMap((told) => (told.error ? [told.error.message] : []));
      throw new Error(`${(error as Error).message}; it told: ${this.story().join(", ")}; ${errors.join("; ")}`);
    }
  }
}

const HAPPENINGS = ["standby", "elected", "suspect", "restored", "draining", "lost", "stopped", "warning"] as const;

async function untilOver(term: Term): Promise<void> {
  await aborted(term.draining);
  if ((term.draining.reason as DrainingError | LostError).reason === "yielded") await aborted(term.signal);
}

/** Resolves once `signal` has aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
