import { describe, expect, it } from "vitest";
import { Outcome } from "./harness.js";
import type { Worlds } from "./suite.js";

const CARD = { host: "h1", nested: { deep: [1, 2.5, null, true, "ünïcode ✓"] } };

export function observing(world: Worlds): void {
  describe("observing", () => {
    it("an election that nobody has heard of has no leader and an empty queue, and looking does not change that", async () => {
      const observer = await world().open();
      expect(await observer.leader(world().election, world().signal)).toBeNull();
      expect(await observer.queue(world().election, world().signal)).toEqual([]);
      expect(await observer.leader(world().election, world().signal)).toBeNull();
    });

    it("shows who leads, with card, number, fence and since when", async () => {
      const leader = await world().join("a", undefined, CARD);
      const began = Date.now();
      const held = await leader.claim();
      const observer = await world().open();
      const seen = await observer.leader(world().election, world().signal);
      expect(seen).toMatchObject({ id: "a", metadata: CARD, number: held.number, fence: held.fence });
      expect(Math.abs(seen!.since.getTime() - began)).toBeLessThan(60_000);
    });

    it("shows everybody who stands, in order, with their cards", async () => {
      const a = await world().join("a", undefined, CARD);
      await a.claim();
      const b = await world().join("b", undefined, { host: "h2" });
      const c = await world().join("c");
      const observer = await world().open();
      const queue = await observer.queue(world().election, world().signal);
      const entry = expect.stringMatching(/./);
      expect(queue).toEqual([
        { entry, id: "a", metadata: CARD, leading: true, session: a.session.id },
        { entry, id: "b", metadata: { host: "h2" }, leading: false, session: b.session.id },
        { entry, id: "c", metadata: {}, leading: false, session: c.session.id },
      ]);
      expect(new Set(queue.map((standing) => standing.entry)).size).toBe(3);
    });

    it("shows nobody leading while the head has not claimed", async () => {
      const head = await world().join("a");
      expect(await world().queue(head.session)).toBe("a");
      expect(await head.session.leader(world().election, world().signal)).toBeNull();
    });

    it("tells when a leader comes, is followed, and goes", async () => {
      const observer = await world().open();
      const { election, signal } = world();
      const [first, second] = [await world().join("a"), await world().join("b")];
      const steps = [() => first.claim(), () => first.withdraw("hand-over"), () => second.withdraw("free")];
      const leaders: (string | undefined)[] = [];
      let seen = await observer.leader(election, signal);
      for (const step of steps) {
        const changed = new Outcome(observer.changed(election, seen, signal));
        await observer.touch(signal);
        expect(changed.settled).toBe(false);
        await step();
        await changed.promise;
        expect(changed.error).toBeUndefined();
        seen = await observer.leader(election, signal);
        leaders.push(seen?.id);
      }
      expect(leaders).toEqual(["a", "b", undefined]);
    });

    it("tells when the first leader ever comes to an election that did not exist", async () => {
      const observer = await world().open();
      const { election, signal } = world();
      const changed = new Outcome(observer.changed(election, null, signal));
      await observer.touch(signal);
      const candidate = await world().join("a");
      await candidate.claim();
      await changed.promise;
      expect(changed.error).toBeUndefined();
      // Early is allowed: what counts is that asking and waiting in turn comes to see the leader.
      while ((await observer.leader(election, signal)) === null) await observer.changed(election, null, signal);
    });

    it("tells when a leader's session has ended", async () => {
      const [leader] = await world().line("a");
      const observer = await world().open();
      const { election, signal } = world();
      const seen = await observer.leader(election, signal);
      const changed = new Outcome(observer.changed(election, seen, signal));
      await observer.touch(signal);
      await world().harness.expire(leader!.session);
      await changed.promise;
      expect(changed.error).toBeUndefined();
      expect(await observer.leader(election, signal)).toBeNull();
    });

    it("tells at once when what was seen is not so any more", async () => {
      const [leader] = await world().line("a");
      const observer = await world().open();
      const { election, signal } = world();
      await observer.changed(election, null, signal);
      const seen = await observer.leader(election, signal);
      await leader!.withdraw();
      await observer.changed(election, seen, signal);
      expect(await observer.leader(election, signal)).toBeNull();
    });

    it("is not told about those who wait", async () => {
      const [leader, second] = await world().line("a", "b");
      const observer = await world().open();
      const { election, signal } = world();
      const changed = new Outcome(observer.changed(election, await observer.leader(election, signal), signal));
      await observer.touch(signal);
      await second!.withdraw();
      const third = await world().join("c");
      await third.withdraw();
      await leader!.held();
      await observer.touch(signal);
      expect(changed.settled).toBe(false);
    });
  });
}
