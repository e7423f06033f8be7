import { describe, expect, it } from "vitest";
import { elapsed, instant, sleep, systemClock } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import { until } from "../support/wait-for.js";
import { longestTouch, Outcome } from "./harness.js";
import type { Worlds } from "./suite.js";

export function sessions(world: Worlds): void {
  describe("sessions", () => {
    it("has an id of its own, and a ttl and a gap that make sense", async () => {
      const [first, second] = [await world().open(), await world().open()];
      expect(first.id).not.toBe("");
      expect(first.id).not.toBe(second.id);
      for (const { ttl, gap } of [first, second]) {
        expect(ttl).toBeGreaterThan(0);
        expect(gap).toBeGreaterThanOrEqual(0);
        expect(gap).toBeLessThan(ttl);
      }
    });

    it("two sessions of one store are independent", async () => {
      const store = await world().harness.newStore("long");
      const first = await store.open({ clock: systemClock }, world().signal);
      const second = await store.open({ clock: systemClock }, world().signal);
      expect(first.id).not.toBe(second.id);
      await first.close(world().signal);
      expect(second.ended.aborted).toBe(false);
      await second.touch(world().signal);
      await second.close(world().signal);
    });

    it("tells by `ended` that the store has ended it, and why", async () => {
      const session = await world().open();
      expect(session.ended.aborted).toBe(false);
      await world().harness.expire(session);
      await until(() => session.ended.aborted, { what: "the session learns that it is over" });
      expect(session.ended.reason).toBeInstanceOf(StoreError);
      expect(session.ended.reason).toMatchObject({ code: "session-ended", transient: false });
    });

    it("answers every call with session-ended once it is over", async () => {
      const { session, contender } = await world().join("a");
      const { signal, election } = world();
      await world().harness.expire(session);
      await until(() => session.ended.aborted, { what: "the session learns that it is over" });
      const ended = { code: "session-ended" };
      await expect(session.prove(signal)).rejects.toMatchObject(ended);
      await expect(session.touch(signal)).rejects.toMatchObject(ended);
      await expect(session.leader(election, signal)).rejects.toMatchObject(ended);
      await expect(session.queue(election, signal)).rejects.toMatchObject(ended);
      await expect(contender.look(signal)).rejects.toMatchObject(ended);
      await expect(contender.withdraw("free", signal)).rejects.toMatchObject(ended);
      await expect(session.contend(election, { id: "b", metadata: {} }, null).look(signal)).rejects.toMatchObject(ended);
    });

    it("vouches for no moment later than the one before the proof was sent", async () => {
      const session = await world().open();
      const late: number[] = [];
      for (let count = 0; count < 10; count++) {
        const before = instant(systemClock);
        const { vouchedAt } = await session.prove(world().signal);
        expect(vouchedAt.mono).toBeLessThanOrEqual(instant(systemClock).mono);
        late.push(Math.max(vouchedAt.mono - before.mono, vouchedAt.wall - before.wall));
      }
      // A proof may read its clock after it was called and before it sends: that takes no time that matters, unless the machine pauses.
      expect(Math.min(...late)).toBeLessThanOrEqual(5);
    });

    it("vouches for no moment older than the newest request that was answered `gap` ago", async () => {
      const session = await world().openIdle();
      const { signal } = world();
      const requests: { sent: number; answered: number }[] = [];
      const end = systemClock.mono() + session.gap + 300;
      while (systemClock.mono() < end) {
        const sent = systemClock.mono();
        await session.touch(signal);
        requests.push({ sent, answered: systemClock.mono() });
        await sleep(systemClock, 20, signal);
      }
      const now = systemClock.mono();
      const { vouchedAt } = await session.prove(signal);
      // A store may take requests together that were answered at almost the same time.
      const newest = requests.findLast(({ answered }) => now - answered >= session.gap + session.ttl / 64);
      expect(vouchedAt.mono).toBeGreaterThanOrEqual(newest?.sent ?? Number.POSITIVE_INFINITY);
    });

    it("lives as long as it is touched", async () => {
      const { harness, signal } = world("short");
      const session = await world().openIdle();
      const candidate = await world().join("a", session);
      await candidate.claim();
      // Longer than one that shows no life.
      const end = systemClock.mono() + 1.25 * (session.ttl + harness.expiryDelay);
      while (systemClock.mono() < end) {
        await session.touch(signal);
        await sleep(systemClock, session.ttl / 5, signal);
      }
      expect(session.ended.aborted).toBe(false);
      await candidate.held();
    });

    it("lives as long as it proves", async () => {
      const { harness, signal } = world("short");
      const session = await world().openIdle();
      const candidate = await world().join("a", session);
      await candidate.claim();
      // Longer than one that shows no life.
      const end = systemClock.mono() + 1.25 * (session.ttl + harness.expiryDelay);
      while (systemClock.mono() < end) {
        await session.prove(signal);
        await sleep(systemClock, session.ttl / 5, signal);
      }
      expect(session.ended.aborted).toBe(false);
      await candidate.held();
    });

    it("cannot be ended by timeout before what the last proof vouches for plus ttl, and is ended soon after", async () => {
      const { signal, harness } = world("short");
      const session = await world().openIdle();
      const leader = await world().join("a", session);
      await leader.claim();
      const waiter = await world().join("b");
      await sleep(systemClock, session.gap + 50, signal);
      const { vouchedAt } = await session.prove(signal);
      const abandonedAt = instant(systemClock);
      session.abandon();
      const moved = new Outcome(waiter.moved());
      const longest = await longestTouch(waiter.session, moved, signal);
      expect(moved.error).toBeUndefined();
      expect(elapsed(systemClock, vouchedAt)).toBeGreaterThanOrEqual(session.ttl);
      expect(elapsed(systemClock, abandonedAt)).toBeLessThanOrEqual(session.ttl + harness.expiryDelay + 2 * longest);
      expect((await waiter.claim()).number).toBeGreaterThanOrEqual(2);
    });

    it("sends nothing from `abandon` on, and is dead", async () => {
      const session = await world().openIdle();
      const touch = new Outcome(session.touch(world().signal));
      session.abandon();
      await touch.promise;
      expect(session.ended.aborted).toBe(true);
      expect(session.ended.reason).toMatchObject({ code: "session-ended" });
      await expect(session.touch(world().signal)).rejects.toMatchObject({ code: "session-ended" });
      await expect(session.prove(world().signal)).rejects.toMatchObject({ code: "session-ended" });
    });

    it("removes its entries at once when it is closed", async () => {
      const [leader, waiter] = await world().line("a", "b");
      const closedAt = instant(systemClock);
      const moved = new Outcome(waiter!.moved());
      await leader!.session.close(world().signal);
      await moved.promise;
      expect(moved.error).toBeUndefined();
      expect(elapsed(systemClock, closedAt)).toBeLessThan(waiter!.session.ttl / 2);
      expect((await waiter!.look()).kind).toBe("head");
      expect(leader!.session.ended.aborted).toBe(true);
      await expect(leader!.session.touch(world().signal)).rejects.toMatchObject({ code: "session-ended" });
    });

    it("is dead when closing it was aborted", async () => {
      const session = await world().openIdle();
      const controller = new AbortController();
      const closing = new Outcome(session.close(controller.signal));
      controller.abort(new Error("not that long"));
      await closing.promise;
      expect(session.ended.aborted).toBe(true);
      await expect(session.touch(world().signal)).rejects.toMatchObject({ code: "session-ended" });
    });

    for (const how of ["expire", "abandon", "close"] as const) {
      it(`settles what waits when it is over (${how})`, async () => {
        const [leader, waiter] = await world().line("a", "b");
        const { signal, election, harness } = world();
        const { session } = waiter!;
        const other = await world().contend("c", session);
        const observed = await session.leader(election, signal);
        const waits = [
          new Outcome(waiter!.moved()),
          new Outcome(session.changed(election, observed, signal)),
          new Outcome(session.changed(`${election}.other`, null, signal)),
        ];
        await session.touch(signal);
        expect(waits.map(({ settled }) => settled)).toEqual([false, false, false]);
        if (how === "expire") await harness.expire(session);
        else if (how === "abandon") session.abandon();
        else await session.close(signal);
        await Promise.all(waits.map(({ promise }) => promise));
        // A wait may learn first that its connection broke.
        for (const { error } of waits) if (error !== undefined) expect(error).toBeInstanceOf(StoreError);
        await until(() => session.ended.aborted, { what: "the session learns that it is over" });
        await expect(other.look()).rejects.toMatchObject({ code: "session-ended" });
        await leader!.held();
      });
    }
  });
}
