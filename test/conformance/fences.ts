import { describe, expect, it } from "vitest";
import type { Worlds } from "./suite.js";

export function fences(world: Worlds): void {
  describe("fences", () => {
    it("rise with every term, by hand-over, by claim and by the end of a session", async () => {
      const [a, b, c, d] = await world().line("a", "b", "c", "d");
      const terms = [await a!.held()];
      await a!.withdraw("hand-over");
      terms.push(await b!.held());
      await b!.withdraw("free");
      await c!.moved();
      terms.push(await c!.claim());
      await world().harness.expire(c!.session);
      await d!.moved();
      terms.push(await d!.claim());
      for (let index = 1; index < terms.length; index++) {
        expect(terms[index]!.fence).toBeGreaterThan(terms[index - 1]!.fence);
        expect(terms[index]!.number).toBeGreaterThan(terms[index - 1]!.number);
      }
    });

    it("rise when everybody had left", async () => {
      const [first] = await world().line("a");
      const before = await first!.held();
      await first!.withdraw();
      await first!.session.close(world().signal);
      const after = await (await world().join("b")).claim();
      expect(after.fence).toBeGreaterThan(before.fence);
      expect(after.number).toBeGreaterThan(before.number);
    });

    it("rise when the data of the election were deleted", async () => {
      const [first] = await world().line("a");
      const before = await first!.held();
      await first!.withdraw();
      await world().harness.wipeElection(world().election);
      const after = await (await world().join("b")).claim();
      expect(after.fence).toBeGreaterThan(before.fence);
    });

    it("rise when the data of the election were deleted under a leader", async () => {
      const [first] = await world().line("a");
      const before = await first!.held();
      await world().harness.wipeElection(world().election);
      const after = await (await world().join("b")).claim();
      expect(after.fence).toBeGreaterThan(before.fence);
      expect((await first!.look()).kind).toBe("gone");
    });

    it("do not change during a term, whatever others do", async () => {
      const [leader, second] = await world().line("a", "b");
      const before = await leader!.held();
      await second!.withdraw();
      const third = await world().join("c");
      await world().harness.evict(world().election, "c");
      expect((await third.look()).kind).toBe("gone");
      expect(await leader!.held()).toMatchObject({ fence: before.fence, number: before.number });
    });
  });
}
