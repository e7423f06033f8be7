import { describe, expect, it } from "vitest";
import { fresh } from "../support/names.js";
import type { Worlds } from "./suite.js";

export function listing(world: Worlds): void {
  describe("listing", () => {
    it("where no election was ever held there is nothing to list, and looking does not change that", async () => {
      const observer = await world().openIdle(await world().harness.newPlace());
      const { signal } = world();
      for (let times = 0; times < 2; times++) {
        expect((await observer.elections(signal)) ?? []).toEqual([]);
        expect(await observer.survey("seat", signal)).toBeNull();
        expect(await observer.queue("seat", signal)).toEqual([]);
      }
    });

    it("shows every election that was held, with its leader and how many wait", async () => {
      const { election, signal } = world();
      const [leader, second] = await world().line("a", "b", "c");
      const other = `${election}.Other_1-x`;
      const alone = leader!.session.contend(other, { id: "alone", metadata: {} }, null);
      await alone.look(signal);
      const observer = await world().open();
      expect(await observer.elections(signal)).toEqual(expect.arrayContaining([election, other]));
      const seen = await observer.survey(election, signal);
      expect(seen).toEqual({ leader: await observer.leader(election, signal), waiting: 2 });
      expect(seen?.leader?.id).toBe("a");
      // It has not claimed.
      expect(await observer.survey(other, signal)).toEqual({ leader: null, waiting: 1 });
      await leader!.withdraw();
      await second!.held();
      await observer.elections(signal);
      expect(await observer.survey(election, signal)).toMatchObject({ leader: { id: "b" }, waiting: 1 });
    });

    it("shows an election whose candidates have all gone", async () => {
      const { election, signal } = world();
      const [leader] = await world().line("a");
      await leader!.withdraw();
      const observer = await world().open();
      expect(await observer.elections(signal)).toContain(election);
      expect(await observer.survey(election, signal)).toEqual({ leader: null, waiting: 0 });
    });

    it("what is not tenure's, or has been removed, is no election", async () => {
      const { election, signal, harness } = world();
      await world().line("a");
      const name = fresh("litter");
      await harness.litter(name);
      const observer = await world().open();
      expect(await observer.elections(signal)).toEqual(expect.arrayContaining([election, name]));
      expect(await observer.survey(name, signal)).toBeNull();
      await harness.wipeElection(election);
      expect(await observer.elections(signal)).not.toContain(election);
      expect(await observer.survey(election, signal)).toBeNull();
    });
  });
}
