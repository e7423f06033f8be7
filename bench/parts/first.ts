import { say } from "../run.js";
import { type Spread, spread } from "../statistics.js";
import type { System } from "../systems.js";

/** From standing to leading where nobody else stands, on an open session. */
export interface First extends Spread {
  readonly system: string;
  /** `fresh`: an election that has never been held, so its nodes are made. `used`: one that was held before. */
  readonly names: "fresh" | "used";
}

const ROUNDS = 5;

/** Interleaved, as the hand-overs. */
export async function measureFirst(systems: readonly System[], address: string, count: number): Promise<First[]> {
  const peers = systems.map((system, index) => ({ system, peer: system.start(address, `/bench/f${index}`) }));
  const times = new Map<string, number[]>();
  const kinds = ["fresh", "used"] as const;
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const names of kinds) {
        for (const { system, peer } of peers) {
          const samples = await peer.numbers("first", Math.ceil(count / ROUNDS) + (names === "used" ? 1 : 0), 5, names);
          // Round 0 warms up.
          if (round > 0) times.set(`${system.name}|${names}`, [...(times.get(`${system.name}|${names}`) ?? []), ...samples]);
        }
      }
    }
  } finally {
    await Promise.all(peers.map(({ peer }) => peer.quit()));
  }
  return kinds.flatMap((names) =>
    systems.map(({ name }) => {
      const found = spread(times.get(`${name}|${names}`) ?? []);
      say(`first: ${name}, ${names}: p50 ${found.p50.toFixed(2)} ms`);
      return { system: name, names, ...found };
    }),
  );
}
