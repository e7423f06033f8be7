import { describe, expect, it } from "vitest";
import { until } from "../support/wait-for.js";
import { Candidate, Outcome } from "./harness.js";
import type { Worlds } from "./suite.js";

export function leaving(world: Worlds): void {
  describe("leaving", () => {
    it("a hand-over seats the next in line in the same step, with a higher number and fence", async () => {
      const [leader, next] = await world().line("a", "b", "c");
      const before = await leader!.held();
      await leader!.contender.prepare(world().signal);
      await leader!.withdraw("hand-over");
      expect(await world().queue(next!.session)).toBe("[b] c");
      const after = await next!.held();
      expect(after.number).toBeGreaterThan(before.number);
      expect(after.fence).toBeGreaterThan(before.fence);
      expect((await leader!.look()).kind).toBe("gone");
    });

    it("a hand-over carries the card of the next in line", async () => {
      const [leader] = await world().line("a");
      const next = await world().join("b", undefined, { host: "h2", nested: { list: [1, "ü"] } });
      await leader!.withdraw("hand-over");
      const seen = await leader!.session.leader(world().election, world().signal);
      expect(seen).toMatchObject({ id: "b", metadata: { host: "h2", nested: { list: [1, "ü"] } } });
      expect(seen?.fence).toBe((await next.held()).fence);
    });

    it("a hand-over with nobody waiting leaves the seat empty", async () => {
      const [leader] = await world().line("a");
      const before = await leader!.held();
      await leader!.contender.prepare(world().signal);
      await leader!.withdraw("hand-over");
      expect(await leader!.session.leader(world().election, world().signal)).toBeNull();
      const after = await (await world().join("b")).claim();
      expect(after.number).toBeGreaterThan(before.number);
      expect(after.fence).toBeGreaterThan(before.fence);
    });

    it("a hand-over without preparation works as well", async () => {
      const [leader, next] = await world().line("a", "b");
      await leader!.withdraw("hand-over");
      await next!.held();
    });

    it("preparing can be repeated and changes nothing", async () => {
      const [leader, next] = await world().line("a", "b");
      const moved = new Outcome(next!.moved());
      await leader!.contender.prepare(world().signal);
      await leader!.contender.prepare(world().signal);
      await next!.session.touch(world().signal);
      expect(moved.settled).toBe(false);
      expect(await world().queue(next!.session)).toBe("[a] b");
    });

    it("a seat prepared for one who has gone meanwhile reaches the one after", async () => {
      const [leader, second, third] = await world().line("a", "b", "c");
      await leader!.contender.prepare(world().signal);
      await second!.withdraw();
      await third!.moved();
      await third!.look();
      const moved = new Outcome(third!.moved());
      await leader!.withdraw("hand-over");
      await moved.promise;
      // Handed on or left free: either is allowed.
      if ((await third!.look()).kind === "head") await third!.claim();
      await third!.held();
    });

    it("a seat prepared for nobody reaches one who came later", async () => {
      const [leader] = await world().line("a");
      await leader!.contender.prepare(world().signal);
      const next = await world().join("b");
      const moved = new Outcome(next.moved());
      await leader!.withdraw("hand-over");
      await moved.promise;
      if ((await next.look()).kind === "head") await next.claim();
      await next.held();
    });

    it("`free` leaves the seat empty, and the next in line may claim it", async () => {
      const [leader, next] = await world().line("a", "b");
      const before = await leader!.held();
      await leader!.withdraw("free");
      expect(await next!.session.leader(world().election, world().signal)).toBeNull();
      expect(await next!.look()).toMatchObject({ kind: "head", seen: before.fence });
      const after = await next!.claim();
      expect(after.fence).toBeGreaterThan(before.fence);
      expect(after.number).toBeGreaterThan(before.number);
    });

    for (const how of ["hand-over", "free"] as const) {
      it(`whoever waits can withdraw, and nobody else is touched (${how})`, async () => {
        const [leader, second, third] = await world().line("a", "b", "c");
        const before = await leader!.held();
        await second!.withdraw(how);
        expect(await world().queue(leader!.session)).toBe("[a] c");
        expect(await leader!.held()).toMatchObject({ number: before.number, fence: before.fence });
        expect((await third!.look()).kind).toBe("behind");
        expect((await second!.look()).kind).toBe("gone");
      });
    }

    it("a head that has not claimed can withdraw", async () => {
      const [first, second] = [await world().join("a"), await world().join("b")];
      await first.withdraw();
      await second.moved();
      expect((await second.look()).kind).toBe("head");
    });

    it("withdrawing can be repeated", async () => {
      const [leader, next] = await world().line("a", "b");
      await leader!.withdraw("hand-over");
      const held = await next!.held();
      await leader!.withdraw("hand-over");
      await leader!.withdraw("free");
      expect(await next!.held()).toMatchObject({ number: held.number, fence: held.fence });
    });

    it("withdrawing is harmless when nothing was sent, and nothing is there afterwards", async () => {
      const candidate = await world().contend("a");
      await candidate.withdraw();
      await candidate.withdraw("free");
      expect(await world().queue(candidate.session)).toBe("");
    });

    it("withdrawing is harmless when the entry has gone", async () => {
      const [leader, next] = await world().line("a", "b");
      await world().harness.evict(world().election, "a");
      await leader!.withdraw("hand-over");
      await next!.moved();
      if ((await next!.look()).kind === "head") await next!.claim();
      const held = await next!.held();
      await leader!.withdraw("hand-over");
      expect(await next!.held()).toMatchObject({ fence: held.fence });
      expect(await world().queue(next!.session)).toBe("[b]");
    });

    it("a look aborted at once leaves nothing behind a withdrawal", async () => {
      const candidate = await world().contend("a");
      const controller = new AbortController();
      const look = new Outcome(candidate.contender.look(controller.signal));
      controller.abort(new Error("not wanted"));
      await look.promise;
      await candidate.withdraw();
      const observer = await world().open();
      expect(await world().queue(observer)).toBe("");
    });

    it("`replaces` removes the entry of an earlier session", async () => {
      const { election, signal } = world();
      const before = await world().join("a", await world().openIdle());
      before.session.abandon();
      const session = await world().open();
      const contender = session.contend(election, { id: "a", metadata: {} }, before.contender);
      const after = new Candidate("a", session, contender, signal);
      await until(async () => (await after.look()).kind === "head", { timeout: session.ttl / 2, what: "the old entry has gone" });
      expect(await world().queue(session)).toBe("a");
    });

    it("`replaces` removes the entry of an earlier session also when it held the seat", async () => {
      const { election, signal } = world();
      const before = await world().join("a", await world().openIdle());
      const old = await before.claim();
      const waiter = await world().join("b");
      before.session.abandon();
      const session = await world().open();
      const after = new Candidate("a", session, session.contend(election, { id: "a", metadata: {} }, before.contender), signal);
      await after.look();
      await waiter.moved();
      expect((await waiter.claim()).fence).toBeGreaterThan(old.fence);
      expect(await world().queue(session)).toBe("[b] a");
    });
  });
}
