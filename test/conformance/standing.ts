import { describe, expect, it } from "vitest";
import { Outcome } from "./harness.js";
import type { Worlds } from "./suite.js";

export function standing(world: Worlds): void {
  describe("standing", () => {
    it("contend sends nothing", async () => {
      await world().contend("a");
      const observer = await world().open();
      expect(await world().queue(observer)).toBe("");
    });

    it("the first look joins, and shows the head of an empty election", async () => {
      const candidate = await world().contend("a");
      expect(await candidate.look()).toMatchObject({ kind: "head", seen: 0n, ignored: [] });
      expect(await world().queue(candidate.session)).toBe("a");
      expect(await candidate.session.leader(world().election, world().signal)).toBeNull();
    });

    it("looking again changes nothing", async () => {
      const candidate = await world().join("a");
      await candidate.look();
      await candidate.look();
      expect(await world().queue(candidate.session)).toBe("a");
    });

    it("a claim makes the head the holder, with a number and a fence, and a look shows the same", async () => {
      const candidate = await world().join("a");
      const held = await candidate.claim();
      expect(held.number).toBeGreaterThanOrEqual(1);
      expect(held.fence).toBeGreaterThan(0n);
      expect(held.seen).toBe(held.fence);
      expect(held.ignored).toEqual([]);
      expect(await candidate.held()).toMatchObject({ number: held.number, fence: held.fence, seen: held.fence });
      expect(await world().queue(candidate.session)).toBe("[a]");
    });

    it("whoever joins later is behind, and sees the fence of the holder", async () => {
      const [leader, waiter] = await world().line("a", "b");
      expect(waiter!.place).toMatchObject({ kind: "behind", seen: (await leader!.held()).fence });
    });

    it("whoever joins a free seat later is behind as well", async () => {
      await world().join("a");
      const second = await world().join("b");
      expect(second.place?.kind).toBe("behind");
    });

    it("refuses the claim of a seat that has been taken since", async () => {
      const candidate = await world().join("a");
      const { place, contender } = candidate;
      await candidate.claim();
      if (place?.kind !== "head") throw new Error("not head");
      expect(await contender.claim(place, world().signal)).toMatchObject({ kind: "refused" });
      expect((await candidate.held()).number).toBeGreaterThanOrEqual(1);
    });

    it("moves when the one before withdraws", async () => {
      const [leader, waiter] = await world().line("a", "b");
      const moved = new Outcome(waiter!.moved());
      await waiter!.session.touch(world().signal);
      expect(moved.settled).toBe(false);
      await leader!.withdraw("free");
      await moved.promise;
      expect(moved.error).toBeUndefined();
      expect((await waiter!.look()).kind).toBe("head");
    });

    it("moves at once when the one before has gone already", async () => {
      const [leader, waiter] = await world().line("a", "b");
      await leader!.withdraw("free");
      await waiter!.moved();
      expect((await waiter!.look()).kind).toBe("head");
    });

    it("moves when the session of the one before has ended", async () => {
      const [leader, waiter] = await world().line("a", "b");
      const moved = new Outcome(waiter!.moved());
      await waiter!.session.touch(world().signal);
      await world().harness.expire(leader!.session);
      await moved.promise;
      expect((await waiter!.look()).kind).toBe("head");
    });

    it("wakes one, and only one, when the leader goes", async () => {
      const [leader, ...waiters] = await world().line("a", "b", "c", "d", "e");
      const moved = waiters.map((waiter) => new Outcome(waiter.moved()));
      for (const { session } of waiters) await session.touch(world().signal);
      await leader!.withdraw();
      await moved[0]!.promise;
      for (const waiter of waiters.slice(1)) await waiter.session.touch(world().signal);
      expect(moved.map(({ settled }) => settled)).toEqual([true, false, false, false]);
    });

    it("wakes only the one behind when a waiter goes", async () => {
      const [, second, third, fourth] = await world().line("a", "b", "c", "d");
      const moved = [second!, third!, fourth!].map((waiter) => new Outcome(waiter.moved()));
      for (const waiter of [second!, third!, fourth!]) await waiter.session.touch(world().signal);
      await second!.withdraw();
      await moved[1]!.promise;
      await fourth!.session.touch(world().signal);
      expect(moved[2]!.settled).toBe(false);
      expect((await third!.look()).kind).toBe("behind");
    });

    it("is not woken by those who come after", async () => {
      const [, second] = await world().line("a", "b");
      const moved = new Outcome(second!.moved());
      await second!.session.touch(world().signal);
      const third = await world().join("c");
      await third.withdraw();
      await second!.session.touch(world().signal);
      expect(moved.settled).toBe(false);
    });

    for (const how of ["hand-over", "free"] as const) {
      it(`seats five candidates in the order in which they came (${how})`, async () => {
        const candidates = await world().line("a", "b", "c", "d", "e");
        const order = ["a"];
        for (let index = 1; index < candidates.length; index++) {
          await candidates[index - 1]!.withdraw(how);
          const next = candidates[index]!;
          await next.moved();
          if (how === "free") await next.claim();
          await next.held();
          order.push(next.id);
        }
        expect(order).toEqual(["a", "b", "c", "d", "e"]);
        expect(await world().queue(candidates[4]!.session)).toBe("[e]");
      });
    }

    it("makes exactly one head of twenty who join at once, and everybody's turn comes", async () => {
      const session = await world().open();
      const candidates = await Promise.all(
        Array.from({ length: 20 }, (_, index) => world().contend(`c${index}`, index % 2 ? session : undefined)),
      );
      await Promise.all(candidates.map((candidate) => candidate.look()));
      expect(candidates.filter(({ place }) => place?.kind === "head")).toHaveLength(1);
      expect(candidates.filter(({ place }) => place?.kind === "behind")).toHaveLength(19);
      const reigns: string[] = [];
      await Promise.all(
        candidates.map(async (candidate) => {
          while (candidate.place?.kind === "behind") {
            await candidate.moved();
            await candidate.look();
          }
          if (candidate.place?.kind === "head") await candidate.claim();
          await candidate.held();
          reigns.push(candidate.id);
          await candidate.withdraw();
        }),
      );
      expect(new Set(reigns).size).toBe(20);
      expect(await world().queue(session)).toBe("");
    });

    it("two candidacies of one session in one election stand one behind the other", async () => {
      const session = await world().open();
      const [first, second] = [await world().join("a", session), await world().join("b", session)];
      await first.claim();
      expect(second.place?.kind).toBe("behind");
      expect(await world().queue(session)).toBe("[a] b");
      await first.withdraw();
      await second.moved();
      await second.held();
      expect((await first.look()).kind).toBe("gone");
    });

    it("holds many elections on one session", async () => {
      const session = await world().open();
      const { election, signal, harness } = world();
      const contenders = Array.from({ length: 100 }, (_, index) =>
        session.contend(`${election}.${index}`, { id: "a", metadata: {} }, null),
      );
      const fences = await Promise.all(
        contenders.map(async (contender) => {
          const place = await contender.look(signal);
          if (place.kind !== "head") throw new Error(place.kind);
          const held = await contender.claim(place, signal);
          return held.kind === "held" ? held.fence : 0n;
        }),
      );
      expect(fences.every((fence) => fence > 0n)).toBe(true);
      await session.close(signal);
      const observer = await world().open();
      expect(await observer.queue(`${election}.57`, signal)).toEqual([]);
      await Promise.all(contenders.map((_, index) => harness.wipeElection(`${election}.${index}`)));
    });

    it("takes election names of 200 characters out of all that are allowed", async () => {
      const session = await world().open();
      const name = `${world().election}-Az09._-${"x".repeat(200)}`.slice(0, 200);
      const contender = session.contend(name, { id: "a", metadata: {} }, null);
      expect((await contender.look(world().signal)).kind).toBe("head");
      await contender.withdraw("free", world().signal);
    });
  });
}
