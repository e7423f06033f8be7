import { describe, expect, it } from "vitest";
import { Outcome } from "./harness.js";
import type { Worlds } from "./suite.js";

/** How many turns of the event loop after the call its signal aborts. */
const MOMENTS = [0, 1, 2, 3, 5, 10, 20];

/** Starts an attempt and gives it up some turns of the event loop later. It may have taken effect. */
async function giveUp(turns: number, attempt: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const controller = new AbortController();
  const outcome = new Outcome(attempt(controller.signal));
  for (let turn = 0; turn < turns && !outcome.settled; turn++) await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error("given up"));
  await outcome.promise;
}

export function doubts(world: Worlds): void {
  describe("attempts that were given up and may have taken effect", () => {
    it("after a join, a look finds out what came of it: one entry", async () => {
      const session = await world().open();
      for (const turns of MOMENTS) {
        const candidate = await world().contend(`c${turns}`, session);
        await giveUp(turns, (signal) => candidate.contender.look(signal));
        await candidate.look();
        expect(await world().queue(session), `after ${turns} turns`).toBe(`c${turns}`);
        await candidate.withdraw();
      }
    });

    it("after a join, a withdrawal leaves nothing", async () => {
      const session = await world().open();
      for (const turns of MOMENTS) {
        const candidate = await world().contend("c", session);
        await giveUp(turns, (signal) => candidate.contender.look(signal));
        await candidate.withdraw();
        expect(await world().queue(session), `after ${turns} turns`).toBe("");
      }
    });

    it("after a claim, a look shows whether the seat is mine", async () => {
      for (const turns of MOMENTS) {
        const candidate = await world().join("a");
        const { place } = candidate;
        if (place?.kind !== "head") throw new Error(`${place?.kind}`);
        await giveUp(turns, (signal) => candidate.contender.claim(place, signal));
        if ((await candidate.look()).kind === "head") await candidate.claim();
        const held = await candidate.held();
        expect(await candidate.session.leader(world().election, world().signal)).toMatchObject({ id: "a", fence: held.fence });
        await candidate.withdraw();
      }
    });

    it("after a hand-over, another one does no harm, and exactly one is seated", async () => {
      for (const turns of MOMENTS) {
        const leader = await world().join("a");
        await leader.claim();
        const [second, third] = [await world().join("b"), await world().join("c")];
        await leader.contender.prepare(world().signal);
        await giveUp(turns, (signal) => leader.contender.withdraw("hand-over", signal));
        await leader.withdraw("hand-over");
        await second.moved();
        if ((await second.look()).kind === "head") await second.claim();
        await second.held();
        expect(await world().queue(second.session), `after ${turns} turns`).toBe("[b] c");
        await third.withdraw();
        await second.withdraw();
      }
    });
  });
}
