import { describe, expect, it } from "vitest";
import type { Session, Standing } from "../../src/store.js";
import { Outcome } from "./harness.js";
import type { Worlds } from "./suite.js";

export function operators(world: Worlds): void {
  const find = async (operator: Session, id: string): Promise<Standing> => {
    const found = (await operator.queue(world().election, world().signal)).find((standing) => standing.id === id);
    if (!found) throw new Error(`${id} does not stand`);
    return found;
  };
  const evict = async (operator: Session, id: string) => operator.evict(world().election, await find(operator, id), null, world().signal);

  describe("operators", () => {
    it("whoever is evicted from the seat is told, and has gone", async () => {
      const [leader, next] = await world().line("a", "b");
      const unseated = new Outcome(leader!.contender.unseated(world().signal));
      await leader!.session.touch(world().signal);
      expect(unseated.settled).toBe(false);
      await world().harness.evict(world().election, "a");
      await unseated.promise;
      expect(unseated.error).toBeUndefined();
      expect((await leader!.look()).kind).toBe("gone");
      await next!.moved();
      expect((await next!.look()).kind).toBe("head");
    });

    it("who was evicted before it asks is told at once", async () => {
      const [leader] = await world().line("a");
      await world().harness.evict(world().election, "a");
      await leader!.contender.unseated(world().signal);
      expect((await leader!.look()).kind).toBe("gone");
    });

    it("whoever is evicted while it waits is told by `moved`, and has gone", async () => {
      const [leader, waiter, third] = await world().line("a", "b", "c");
      const moved = new Outcome(waiter!.moved());
      await waiter!.session.touch(world().signal);
      await world().harness.evict(world().election, "b");
      await moved.promise;
      expect(moved.error).toBeUndefined();
      expect((await waiter!.look()).kind).toBe("gone");
      expect((await third!.look()).kind).toBe("behind");
      await leader!.held();
    });

    it("refuses the claim of a head that was evicted, and the seat stays free", async () => {
      const head = await world().join("a");
      const { place } = head;
      if (place?.kind !== "head") throw new Error("not head");
      await world().harness.evict(world().election, "a");
      expect(await head.contender.claim(place, world().signal)).toMatchObject({ kind: "refused" });
      // Nothing was written down either.
      expect(await head.look()).toMatchObject({ kind: "gone", seen: place.seen });
      expect(await head.session.leader(world().election, world().signal)).toBeNull();
    });

    it("whoever has gone stays gone, also when it looks again", async () => {
      const [leader] = await world().line("a");
      await world().harness.evict(world().election, "a");
      await leader!.look();
      expect((await leader!.look()).kind).toBe("gone");
      expect(await world().queue(leader!.session)).toBe("");
    });

    it("whoever was evicted can stand again, with a new candidacy of the same session", async () => {
      const [leader] = await world().line("a");
      const before = await leader!.held();
      await world().harness.evict(world().election, "a");
      await leader!.withdraw();
      const again = await world().join("a", leader!.session);
      const after = await again.claim();
      expect(after.fence).toBeGreaterThan(before.fence);
    });

    it("an eviction elsewhere tells nobody", async () => {
      const [leader] = await world().line("a", "b");
      const unseated = new Outcome(leader!.contender.unseated(world().signal));
      await leader!.session.touch(world().signal);
      await world().harness.evict(world().election, "b");
      await leader!.session.touch(world().signal);
      expect(unseated.settled).toBe(false);
    });

    it("`evict` removes the leader's entry: it is told and has gone, and the next finds the seat free", async () => {
      const [leader, next] = await world().line("a", "b");
      const operator = await world().open();
      const unseated = new Outcome(leader!.contender.unseated(world().signal));
      await leader!.session.touch(world().signal);
      expect(await evict(operator, "a")).toEqual({ stead: null });
      await unseated.promise;
      expect((await leader!.look()).kind).toBe("gone");
      expect(await operator.leader(world().election, world().signal)).toBeNull();
      await next!.moved();
      expect((await next!.look()).kind).toBe("head");
      expect(await world().queue(operator)).toBe("b");
    });

    it("`evict` removes a waiter's entry, and nobody else notices", async () => {
      const [leader, waiter, third] = await world().line("a", "b", "c");
      const operator = await world().open();
      const unseated = new Outcome(leader!.contender.unseated(world().signal));
      await leader!.session.touch(world().signal);
      expect(await evict(operator, "b")).toEqual({ stead: null });
      await waiter!.moved();
      expect((await waiter!.look()).kind).toBe("gone");
      await leader!.held();
      expect((await third!.look()).kind).toBe("behind");
      expect(unseated.settled).toBe(false);
      expect(await world().queue(operator)).toBe("[a] c");
    });

    it("`evict` does nothing to an entry that has gone, or is none", async () => {
      await world().line("a", "b");
      const operator = await world().open();
      const { election, signal } = world();
      const { entry } = await find(operator, "b");
      expect(await operator.evict(election, { entry, leading: false }, null, signal)).toEqual({ stead: null });
      for (const other of [entry, "nothing", "../term"])
        for (const leading of [true, false]) expect(await operator.evict(election, { entry: other, leading }, null, signal)).toBeNull();
      expect(await operator.evict(`${election}-2`, { entry, leading: false }, null, signal)).toBeNull();
      expect(await world().queue(operator)).toBe("[a]");
    });

    it("`evict` of a waiter does nothing to one that has become leader, and of a leader nothing to one that waits", async () => {
      const [first, second] = await world().line("a", "b");
      const operator = await world().open();
      const { election, signal } = world();
      const waiting = await find(operator, "b");
      expect(await operator.evict(election, { ...waiting, leading: true }, null, signal)).toBeNull();
      await first!.withdraw();
      await second!.held();
      expect(await operator.evict(election, waiting, null, signal)).toBeNull();
      await second!.held();
      expect(await world().queue(operator)).toBe("[b]");
    });

    it("`evict` with a stead keeps the seat free until the stead is evicted, or its session ends", async () => {
      for (const end of ["evicted", "closed"]) {
        const { election, signal } = world();
        const [leader, next, third] = await world().line("a", "b", "c");
        const operator = await world().openIdle();
        const seen = await find(operator, "a");
        const evicted = await operator.evict(election, seen, { id: "stead", metadata: {} }, signal);
        expect((await leader!.look()).kind).toBe("gone");
        await next!.moved();
        expect((await next!.look()).kind).toBe("behind");
        expect((await third!.look()).kind).toBe("behind");
        expect(await world().queue(next!.session)).toBe("stead b c");
        expect(await operator.leader(election, signal)).toBeNull();
        // Repeating it, as after a lost reply, changes nothing.
        expect(await operator.evict(election, seen, { id: "stead", metadata: {} }, signal)).toEqual(evicted);
        const moved = new Outcome(next!.moved());
        await next!.session.touch(signal);
        expect(moved.settled).toBe(false);
        if (end === "closed") await operator.close(signal);
        else expect(await operator.evict(election, { entry: evicted!.stead!, leading: false }, null, signal)).toEqual({ stead: null });
        await moved.promise;
        expect((await next!.look()).kind).toBe("head");
        await next!.claim();
        expect(await world().queue(next!.session)).toBe("[b] c");
        for (const candidate of [leader, next, third]) await candidate!.withdraw();
      }
    });

    it("when everything is deleted, leader and waiters are told, and have gone", async () => {
      const [leader, waiter] = await world().line("a", "b");
      const { election, signal, harness } = world();
      const told = [new Outcome(leader!.contender.unseated(signal)), new Outcome(waiter!.moved())];
      await leader!.session.touch(signal);
      await waiter!.session.touch(signal);
      await harness.wipeElection(election);
      await Promise.all(told.map(({ promise }) => promise));
      expect((await leader!.look()).kind).toBe("gone");
      expect((await waiter!.look()).kind).toBe("gone");
      await leader!.withdraw();
      await waiter!.withdraw();
      expect(await world().queue(leader!.session)).toBe("");
    });
  });
}
