import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { attempts } from "./attempts.js";
import { doubts } from "./doubts.js";
import { fences } from "./fences.js";
import { type Harness, World } from "./harness.js";
import { leaving } from "./leaving.js";
import { listing } from "./listing.js";
import { observing } from "./observing.js";
import { operators } from "./operators.js";
import { sessions } from "./sessions.js";
import { standing } from "./standing.js";

/** Gives a part of the suite the world of the test that runs. Its sessions live long; at the first call another life can be chosen. */
export type Worlds = (life?: "long" | "short") => World;

/** Every promise of the contract (`src/store.ts`) is a case here; every store must pass all of them. */
export function conformance(name: string, prepare: () => Promise<Harness>): void {
  describe(`the contract of a store: ${name}`, () => {
    let harness: Harness;
    let world: World | null = null;
    beforeAll(async () => {
      harness = await prepare();
    });
    afterAll(() => harness.dispose());
    afterEach(async () => {
      const used = world;
      world = null;
      await used?.dispose();
    });

    for (const part of [sessions, standing, leaving, operators, fences, observing, listing, attempts, doubts])
      part((life) => (world ??= new World(harness, life)));
  });
}
