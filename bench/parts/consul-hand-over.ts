import type { ConsulServer } from "../../test/support/consul-server.js";
import { allSystems, endSessions, REFERENCE } from "../consul-systems.js";
import { say } from "../run.js";
import { percentile, type Spread, spread } from "../statistics.js";

/** Hand-overs of one system among so many candidates. */
export interface ConsulHandOvers extends Spread {
  readonly system: string;
  readonly candidates: number;
  /** How long each leads, ms. */
  readonly hold: number;
  readonly p90: number;
  /** Of the medians, to api.Lock. */
  readonly ratio: number;
}

/** Each system's hand-overs with so many candidates are split into so many chunks. */
const CHUNKS = 5;

/** How long each leads, ms, so that api.Lock's herd has settled before the next hand-over (what it takes grows with its size). */
export function holdOf(candidates: number): number {
  return candidates <= 2 ? 50 : candidates <= 20 ? 150 : 7 * candidates;
}

/**
 * Interleaved: the systems take turns, chunk by chunk. Only the one whose turn it is has candidates there: those of the others, though they
 * only wait, would renew their sessions meanwhile.
 */
export async function measureConsulHandOvers(
  server: ConsulServer,
  sizes: readonly number[],
  handOvers: number,
): Promise<ConsulHandOvers[]> {
  const systems = allSystems(server.address);
  const results: ConsulHandOvers[] = [];
  const chunks = Math.min(CHUNKS, handOvers);
  try {
    for (const candidates of sizes) {
      const hold = holdOf(candidates);
      const times = new Map<string, number[]>(systems.map(({ name }) => [name, []]));
      for (let chunk = 0; chunk < chunks; chunk++) {
        say(`hand-over, ${candidates} candidates, chunk ${chunk + 1} of ${chunks}`);
        for (let turn = 0; turn < systems.length; turn++) {
          const system = systems[(chunk + turn) % systems.length] as (typeof systems)[0];
          times.get(system.name)?.push(...(await system.chunk({ candidates, handOvers: Math.ceil(handOvers / chunks), hold })));
          await endSessions(server);
        }
      }
      results.push(...summary(times, candidates, hold));
    }
    return results;
  } finally {
    await Promise.all(systems.map((system) => system.quit()));
  }
}

function summary(times: ReadonlyMap<string, number[]>, candidates: number, hold: number): ConsulHandOvers[] {
  const base = spread(times.get(REFERENCE) ?? []).p50;
  return [...times].map(([system, samples]) => {
    const all = spread(samples);
    const ratio = all.p50 / base;
    say(`  ${system}: p50 ${all.p50.toFixed(2)} ms, ${ratio.toFixed(2)} of ${REFERENCE}`);
    return { system, candidates, hold, ...all, p90: percentile(samples, 0.9), ratio };
  });
}
