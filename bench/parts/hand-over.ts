import { readFileSync } from "node:fs";
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
  const peers = systems.map((system, index) => ({ system, peer: system.start(address, `/bench/s${index}`) }));
  const results: HandOvers[] = [];
  try {
    for (const candidates of options.candidates) {
      say(`hand-over, ${candidates} candidates with a session each, ${servers === "one" ? "one server" : "three servers"}: standing`);
      for (const { peer } of peers) await peer.ask("stand", candidates, candidates);
      const share = Math.ceil(handOvers / ROUNDS);
      // The first hand-overs of a process wait for its compiler.
      const warm = results.length === 0 ? Math.max(handOvers, 20) : Math.ceil(handOvers / 4);
      for (const { peer } of peers) await peer.numbers("hand", warm, 1);
      const times = new Map<string, number[]>(systems.map(({ name }) => [name, []]));
      const cpu = new Map<string, number>();
      for (let round = 0; round < ROUNDS; round++) {
        const order = peers.map((_, index) => peers[(index + round) % peers.length] as (typeof peers)[0]);
        for (const { system, peer } of order) {
          const before = processorTime(peer.pid);
          times.get(system.name)?.push(...(await peer.numbers("hand", share, PAUSE)));
          cpu.set(system.name, (cpu.get(system.name) ?? 0) + processorTime(peer.pid) - before);
        }
      }
      const reference = times.get(REFERENCE);
      for (const [system, samples] of times) {
        const found = spread(samples);
        const ratio = reference ? found.p50 / spread(reference).p50 : null;
        const used = (cpu.get(system) ?? Number.NaN) / samples.length;
        results.push({ system, servers, candidates, again, ...found, cpu: Number.isNaN(used) ? null : used, ratio });
        say(`  ${system}: p50 ${found.p50.toFixed(2)} ms${ratio === null ? "" : `, ${ratio.toFixed(2)} of ${REFERENCE}`}`);
      }
      for (const { peer } of peers) await peer.ask("leave");
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
export async function measureLate(systems: readonly System[], options: Omit<HandOverOptions, "servers" | "candidates">): Promise<HandOvers[]> {
  const some = systems.filter(({ name }) => LATE.systems.some((word) => name.startsWith(word)));
  const peers = some.map((system, index) => ({ system, peer: system.start(address, `/bench/l${index}`), times: [] as number[] }));
  try {
    for (const { peer } of peers) {
      await peer.ask("stand", 2, 2, "later");
      await peer.numbers("hand", Math.max(handOvers, 20), 1);
      await peer.ask("leave");
    }
    const elections = Math.min(LATE.elections, handOvers);
    for (let done = 0; done < handOvers; done += elections) {
      for (const { peer, times } of peers) times.push(...(await peer.numbers("late", elections, LONG, PAUSE)));
    }
    const reference = peers.find(({ system }) => system.name === REFERENCE);
    return peers.map(({ system, times }) => {
      const found = spread(times);
      const ratio = reference ? found.p50 / spread(reference.times).p50 : null;
      say(`  ${system.name}, after a long wait: p50 ${found.p50.toFixed(2)} ms`);
      return { system: system.name, servers: "one", candidates: 2, again: "later", ...found, cpu: null, ratio };
    });
  } finally {
    await Promise.all(peers.map(({ peer }) => peer.quit()));
  }
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
