import { type MemoryClient, type MemoryOptions, type MemoryStore, memory } from "../../../adapters/memory/index.js";
import { Elector } from "../../../src/elector.js";
import type { ElectorOptions } from "../../../src/options.js";
import { ManualClock } from "../../../src/manual-clock.js";
import type { ElectorEvents } from "../../../src/events.js";

/** A candidate that runs as a process of its own: own clock, own link to the store, and a record of what it was told. */
export interface Candidate {
  readonly elector: Elector;
  readonly client: MemoryClient;
  readonly clock: ManualClock;
  /** Names of the events told so far; `lost` and `draining` with their reason. */
  readonly told: string[];
  readonly warnings: Error[];
}

/** One memory store, and processes around it that share its time. */
export class World {
  readonly clock = new ManualClock();
  readonly server: MemoryStore;
  readonly candidates: Candidate[] = [];

  constructor(options: MemoryOptions = {}) {
    this.server = memory({ ttl: 10_000, clock: this.clock, ...options });
  }

  candidate(id: string, options: Partial<ElectorOptions> = {}): Candidate {
    const clock = (options.clock as ManualClock | undefined) ?? this.clock.process();
    const client = (options.store as MemoryClient | undefined) ?? this.server.client(id);
    const elector = new Elector({ store: client, election: "seat", id, clock, ...options });
    const told: string[] = [];
    const warnings: Error[] = [];
    const note = (name: keyof ElectorEvents) =>
      elector.on(name, (event: unknown) => void told.push((event as { reason?: string } | undefined)?.reason ? `${name}:${(event as { reason: string }).reason}` : name));
    for (const name of ["standby", "elected", "suspect", "restored", "draining", "lost", "stopped"] as const) note(name);
    elector.on("warning", (error) => void warnings.push(error));
    const candidate = { elector, client, clock, told, warnings };
    this.candidates.push(candidate);
    return candidate;
  }

  /** Stops everybody, letting time pass as needed. */
  async end(): Promise<void> {
    let done = false;
    void Promise.all(this.candidates.map(({ elector }) => elector.stop())).then(() => {
      done = true;
    });
    await this.clock.advanceUntil(() => done, 600_000);
  }
}
