import { readFileSync } from "node:fs";
import type { Peer } from "../peer.js";
import { say } from "../run.js";
import { type Spread, spread } from "../statistics.js";
import { REFERENCE, type System, TTL } from "../systems.js";

export type Again = "at-once" | "later";

/** Hand-overs of one system in one setting. */
export interface HandOvers extends Spread {
  readonly system: string;
  readonly servers: "one" | "three";
  readonly candidates: number;
  /**
   * `at-once`: whoever leaves stands again by itself, and its requests compete with the next one's: resign(); close() and a new latch;
   * autoRequeue(); acquire() in a loop. `later`: it stands again when the next one leads.
   */
  readonly again: Again;
  /** Processor time of its process, a hand-over with standing again, ms; null where the system does not tell. */
  readonly cpu: number | null;
  /** Of the medians, to Curator's LeaderLatch; null without it. */
  readonly ratio: number | null;
}

export interface HandOverOptions {
  readonly address: string;
  readonly servers: "one" | "three";
  readonly candidates: readonly number[];
  /** ms after each hand-over, once all stand again: for every system the next one begins from the same quiet. */
  readonly rest: number;
  /** Counted, for each system and number of candidates. */
  readonly handOvers: number;
}

/** So many rounds; in each, every system hands over a share, in an order that rotates. */
const ROUNDS = 10;

/** Clean hand-overs, interleaved: all systems live on the same server all the time, and take turns. */
export async function measureHandOvers(systems: readonly System[], options: HandOverOptions): Promise<HandOvers[]> {
  const { address, servers, handOvers, rest } = options;
  const peers = systems.map((system, index) => new Timed(system, address, `/bench/s${index}`));
  const results: HandOvers[] = [];
  try {
    for (const again of ["at-once", "later"] as const) {
      for (const candidates of options.candidates) {
        say(`hand-over, ${candidates} candidates, standing again ${again}, ${servers === "one" ? "one server" : "three servers"}`);
        for (const { peer } of peers) await peer.ask("stand", candidates, candidates, again);
        // The first hand-overs of a process wait for its compiler.
        const warm = results.length === 0 ? Math.max(2 * handOvers, 20) : Math.ceil(handOvers / 4);
        for (const { peer } of peers) await peer.numbers("hand", warm, 1);
        for (let round = 0; round < ROUNDS; round++) {
          const order = peers.map((_, index) => peers[(index + round) % peers.length] as Timed);
          for (const timed of order) await timed.take("hand", Math.ceil(handOvers / ROUNDS), rest);
        }
        results.push(...summary(peers, { servers, candidates, again }));
        for (const { peer } of peers) await peer.ask("leave");
      }
    }
    return results;
  } finally {
    await Promise.all(peers.map(({ peer }) => peer.quit()));
  }
}

/** What is measured of `late`. */
const LATE = { elections: 50, systems: ["tenure", "Curator"] };
/** ms: longer than the proof of a session that waits makes its deadline fresh. */
const LONG = TTL - 2000;

/**
 * Hand-overs to a candidate that has waited for long, two in each election: tenure's must then prove its session before it leads. (With
 * many candidates that is always so.) Taking turns, fifty at a time.
 */
export async function measureLate(systems: readonly System[], address: string, handOvers: number, rest: number): Promise<HandOvers[]> {
  const some = systems.filter(({ name }) => LATE.systems.some((word) => name.startsWith(word)));
  const peers = some.map((system, index) => new Timed(system, address, `/bench/l${index}`));
  try {
    for (const { peer } of peers) {
      await peer.ask("stand", 2, 2, "at-once");
      await peer.numbers("hand", Math.max(2 * handOvers, 20), 1);
      await peer.ask("leave");
    }
    const elections = Math.min(LATE.elections, handOvers);
    for (let done = 0; done < handOvers; done += elections) {
      for (const timed of peers) await timed.take("late", elections, LONG, rest);
    }
    return summary(peers, { servers: "one", candidates: 2, again: "at-once" });
  } finally {
    await Promise.all(peers.map(({ peer }) => peer.quit()));
  }
}

/** A system's process, and what it has measured since the last summary. */
class Timed {
  readonly name: string;
  readonly peer: Peer;
  times: number[] = [];
  cpu = 0;

  constructor(system: System, address: string, root: string) {
    this.name = system.name;
    this.peer = system.start(address, root);
  }

  async take(command: string, ...words: number[]): Promise<void> {
    const before = processorTime(this.peer.pid);
    this.times.push(...(await this.peer.numbers(command, ...words)));
    this.cpu += processorTime(this.peer.pid) - before;
  }
}

function summary(peers: readonly Timed[], setting: Pick<HandOvers, "servers" | "candidates" | "again">): HandOvers[] {
  const reference = peers.find(({ name }) => name === REFERENCE);
  const base = reference ? spread(reference.times).p50 : null;
  const found = peers.map(({ name, times, cpu }): HandOvers => {
    const all = spread(times);
    const used = Number.isNaN(cpu) ? null : cpu / times.length;
    const ratio = base === null ? null : all.p50 / base;
    say(`  ${name}: p50 ${all.p50.toFixed(2)} ms${ratio === null ? "" : `, ${ratio.toFixed(2)} of ${REFERENCE}`}`);
    return { system: name, ...setting, ...all, cpu: used, ratio };
  });
  for (const timed of peers) {
    timed.times = [];
    timed.cpu = 0;
  }
  return found;
}

/** User and system time of a process so far, ms; NaN where there is no /proc. */
function processorTime(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    // In hundredths of a second, on every Linux that Node runs on.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
