import { type Clock, elapsed, type Instant, instant } from "../../src/clock.js";
import { type Operation, TransactionRefused } from "./client/consul-wire.js";
import { NEVER } from "./consul-lifetime.js";
import type { ElectionPaths } from "./consul-paths.js";
import type { Requests } from "./consul-requests.js";
import { readView, type View, viewOperations } from "./consul-view.js";

/** A candidacy, as the sweep sees it. */
export interface Swept {
  readonly paths: ElectionPaths;
  /** Whether it waits behind another. */
  readonly waits: boolean;
  /** Operations that are refused once anything has happened to its seat or place; none: nothing to check. */
  checks(): Operation[];
  /** Takes note of how its election stands. */
  compare(view: View): void;
  /** Something has happened: it is to look. */
  disturbed(): void;
}

/**
 * Goes over all seats and places of a session after each sign of life, by read-only transactions: what no letter and no query has told
 * becomes a delay instead of a deadlock (REPORT, "safety net"). Once a ttl it also looks at the queue of each place that waits.
 */
export class Sweep {
  readonly #requests: Requests;
  readonly #clock: Clock;
  readonly #ttl: number;
  readonly #swept = new Set<Swept>();
  #running: Promise<void> | null = null;
  #again = false;
  #looked: Instant;

  constructor(requests: Requests, clock: Clock, ttl: number) {
    this.#requests = requests;
    this.#clock = clock;
    this.#ttl = ttl;
    this.#looked = instant(clock);
  }

  add(swept: Swept): () => void {
    this.#swept.add(swept);
    return () => void this.#swept.delete(swept);
  }

  /** `full`: also looks at the queues now. While one is under way, another follows. */
  run(full: boolean): void {
    if (full) this.#looked = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
    if (this.#running) {
      this.#again ||= full;
      return;
    }
    this.#running = this.#go().finally(() => {
      this.#running = null;
      if (!this.#again) return;
      this.#again = false;
      this.run(true);
    });
  }

  async #go(): Promise<void> {
    const looks = elapsed(this.#clock, this.#looked) >= this.#ttl;
    if (looks) this.#looked = instant(this.#clock);
    const all = [...this.#swept];
    await Promise.all(all.flatMap((swept) => [this.#check(swept), ...(looks && swept.waits ? [this.#look(swept)] : [])]));
  }

  async #check(swept: Swept): Promise<void> {
    const checks = swept.checks();
    if (checks.length === 0) return;
    try {
      await this.#requests.read(checks, NEVER);
    } catch (error) {
      // What failed otherwise is asked again by the next sweep.
      if (error instanceof TransactionRefused) swept.disturbed();
    }
  }

  async #look(swept: Swept): Promise<void> {
    try {
      swept.compare(readView(swept.paths, await this.#requests.read(viewOperations(swept.paths), NEVER)));
    } catch {
      // The next one looks again.
    }
  }
}
