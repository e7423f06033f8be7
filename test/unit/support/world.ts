import { type MemoryClient, type MemoryOptions, type MemoryStore, memory } from "../../../adapters/memory/index.js";
import { Elector } from "../../../src/elector.js";
import type { ElectorEvents } from "../../../src/events.js";
import { ManualClock } from "../../../src/manual-clock.js";
import type { ElectorOptions } from "../../../src/options.js";
import type { Standing } from "../../../src/store.js";
import { checkGrammar } from "./grammar.js";
import { TappedStore } from "./tapped-store.js";

/** A candidate that runs as a process of its own: own clock, own link to the store, and a record of what it was told. */
export interface Candidate {
  readonly elector: Elector;
  readonly client: MemoryClient;
  /** Where its calls pass. */
  readonly tap: TappedStore;
  readonly clock: ManualClock;
  /** Names of the events told so far; `lost` and `draining` with their reason. */
  readonly told: string[];
  readonly warnings: Error[];
}

/** How a candidate differs from one in a process of its own. */
export interface CandidateOptions extends Partial<Omit<ElectorOptions, "store" | "clock">> {
  /** In the process, and on the store value, of this other candidate. */
  readonly with?: Candidate;
}

const EVENTS = ["standby", "elected", "suspect", "restored", "draining", "lost", "stopped"] as const;
const never = new AbortController().signal;

/** One memory store, and processes around it that share its time. */
export class World {
  readonly clock = new ManualClock();
  readonly server: MemoryStore;
  readonly ttl: number;
  readonly candidates: Candidate[] = [];
  readonly #rejections: unknown[] = [];
  readonly #onRejection = (reason: unknown) => void this.#rejections.push(reason);
  readonly #asker: MemoryClient;

  constructor(options: MemoryOptions = {}) {
    this.ttl = options.ttl ?? 10_000;
    this.server = memory({ ttl: this.ttl, clock: this.clock, ...options });
    this.#asker = this.server.client("asker");
    this.#asker.delay(0);
    process.on("unhandledRejection", this.#onRejection);
  }

  candidate(id: string, options: CandidateOptions = {}): Candidate {
    const { with: host, ...rest } = options;
    const clock = host?.clock ?? this.clock.process();
    const client = host?.client ?? this.server.client(id);
    const tap = host?.tap ?? new TappedStore(client);
    const elector = new Elector({ store: tap, election: "seat", id, clock, ...rest });
    const told: string[] = [];
    const warnings: Error[] = [];
    for (const name of EVENTS) {
      elector.on(name as keyof ElectorEvents, (event: unknown) => {
        const reason = (event as { reason?: string } | undefined)?.reason;
        told.push(reason ? `${name}:${reason}` : name);
      });
    }
    elector.on("warning", (error) => void warnings.push(error));
    const candidate = { elector, client, tap, clock, told, warnings };
    this.candidates.push(candidate);
    return candidate;
  }

  /** Starts the candidates of these names, one after the other: the first leads, the others wait in this order. */
  async lineUp(...ids: string[]): Promise<Candidate[]> {
    const candidates = ids.map((id) => this.candidate(id));
    for (const { elector } of candidates) {
      elector.start();
      await this.clock.settle();
    }
    return candidates;
  }

  /** Who stands in `election`, in order. Shown to a client with no part in it; takes no time. */
  async queue(election = "seat"): Promise<Standing[]> {
    let queue: Standing[] | null = null;
    void (async () => {
      const session = await this.#asker.open({ clock: this.clock }, never);
      const found = await session.queue(election, never);
      await session.close(never);
      queue = found;
    })();
    await this.clock.advanceUntil(() => queue !== null, 0);
    return queue as unknown as Standing[];
  }

  /** Ids of {@link queue}; the leader's with a star. */
  async line(election = "seat"): Promise<string[]> {
    return (await this.queue(election)).map(({ id, leading }) => (leading ? `${id}*` : id));
  }

  /** Stops everybody, letting time pass as needed; then nothing may be left of them. */
  async end(): Promise<void> {
    const problems: string[] = [];
    try {
      for (const { clock, client } of this.candidates) {
        await clock.resume();
        client.release();
      }
      this.server.start();
      let done = false;
      void Promise.all(this.candidates.map(({ elector }) => elector.stop())).then(() => {
        done = true;
      });
      await this.clock.advanceUntil(() => done, 600_000);
      await this.clock.advanceUntil(() => this.server.sessions === 0, 2 * this.ttl);
      await new Promise((resolve) => setImmediate(resolve));
      for (const { elector, clock, told } of this.candidates) {
        checkGrammar(elector.id, told);
        if (clock.pending > 0) problems.push(`${elector.id}: ${clock.pending} timers are left`);
      }
      for (const reason of this.#rejections) problems.push(`unhandled rejection: ${String(reason)}`);
    } finally {
      process.off("unhandledRejection", this.#onRejection);
    }
    if (problems.length > 0) throw new Error(problems.join("\n"));
  }
}

/** Something that a test ends when it likes. */
export interface Gate<T = void> {
  readonly promise: Promise<T>;
  open(value: T): void;
  fail(error: unknown): void;
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open: (value) => open(value), fail: (error) => fail(error) };
}
