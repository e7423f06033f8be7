import { say } from "../run.js";
import { type Spread, spread } from "../statistics.js";
import { REFERENCE, type System } from "../systems.js";

/** Hand-overs of one system in one setting. */
export interface HandOvers extends Spread {
  readonly system: string;
  readonly servers: "one" | "three";
  readonly candidates: number;
  readonly sessions: number;
  /** Of the medians, to Curator's LeaderLatch; null without it. */
  readonly ratio: number | null;
}

export interface HandOverOptions {
  readonly address: string;
  readonly servers: "one" | "three";
  readonly candidates: readonly number[];
  /** Counted, for each system and number of candidates. */
  readonly handOvers: number;
}

/** ms of rest after each hand-over, once all stand again: for every system the next one begins from the same quiet. */
const PAUSE = 15;
/** So many rounds; in each, every system hands over a share, in an order that rotates. */
const ROUNDS = 10;

/** Clean hand-overs, interleaved: all systems live on the same server all the time, and take turns. */
export async function measureHandOvers(systems: readonly System[], options: HandOverOptions): Promise<HandOvers[]> {
  const { address, servers, handOvers } = options;
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
      for (let round = 0; round < ROUNDS; round++) {
        const order = peers.map((_, index) => peers[(index + round) % peers.length] as (typeof peers)[0]);
        for (const { system, peer } of order) times.get(system.name)?.push(...(await peer.numbers("hand", share, PAUSE)));
      }
      const reference = times.get(REFERENCE);
      for (const [system, samples] of times) {
        const found = spread(samples);
        const ratio = reference ? found.p50 / spread(reference).p50 : null;
        results.push({ system, servers, candidates, sessions: candidates, ...found, ratio });
        say(`  ${system}: p50 ${found.p50.toFixed(2)} ms${ratio === null ? "" : `, ${ratio.toFixed(2)} of ${REFERENCE}`}`);
      }
      for (const { peer } of peers) await peer.ask("leave");
    }
    return results;
  } finally {
    await Promise.all(peers.map(({ peer }) => peer.quit()));
  }
}
