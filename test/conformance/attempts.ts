import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.js";
import { timedOut } from "../../src/errors.js";
import { until } from "../support/wait-for.js";
import { Outcome, type World } from "./harness.js";
import type { Worlds } from "./suite.js";

type Call = (signal: AbortSignal) => Promise<unknown>;

/** Every call of the contract, ready to be made. `waits`: not settled until something happens. */
async function calls(world: World): Promise<{ name: string; call: Call; waits?: boolean }[]> {
  const { election, harness } = world;
  const store = await harness.newStore("long");
  const [leader, waiter] = await world.line("a", "b");
  const { session, contender } = leader!;
  const newcomer = await world.contend("c", session);
  const rival = session.contend(`${election}.other`, { id: "a", metadata: {} }, null);
  const free = await rival.look(world.signal);
  if (free.kind !== "head" || !waiter!.place) throw new Error(free.kind);
  const behind = waiter!.place;
  const seen = await session.leader(election, world.signal);
  return [
    { name: "open", call: (signal) => store.open({ clock: systemClock }, signal) },
    { name: "prove", call: (signal) => session.prove(signal) },
    { name: "touch", call: (signal) => session.touch(signal) },
    { name: "leader", call: (signal) => session.leader(election, signal) },
    { name: "queue", call: (signal) => session.queue(election, signal) },
    { name: "look", call: (signal) => contender.look(signal) },
    { name: "first look", call: (signal) => newcomer.contender.look(signal) },
    { name: "claim", call: (signal) => rival.claim(free, signal) },
    { name: "prepare", call: (signal) => contender.prepare(signal) },
    { name: "changed", call: (signal) => session.changed(election, seen, signal), waits: true },
    { name: "moved", call: (signal) => waiter!.contender.moved(behind, signal), waits: true },
    { name: "unseated", call: (signal) => contender.unseated(signal), waits: true },
    { name: "withdraw", call: (signal) => rival.withdraw("free", signal) },
    { name: "close", call: (signal) => session.close(signal) },
  ];
}

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}

export function attempts(world: Worlds): void {
  describe("attempts", () => {
    it("a call whose signal has aborted rejects with the very reason", async () => {
      const reason = new Error("long ago");
      const signal = AbortSignal.abort(reason);
      for (const { name, call } of await calls(world())) {
        const outcome = new Outcome(call(signal));
        await outcome.promise;
        expect(outcome.error, name).toBe(reason);
      }
    });

    it("a call that is aborted while it runs rejects with the very reason, and leaves no listener", async () => {
      for (const { name, call } of await calls(world())) {
        const controller = new AbortController();
        const reason = new Error(name);
        const outcome = new Outcome(call(controller.signal));
        controller.abort(reason);
        await outcome.promise;
        expect(outcome.error, name).toBe(reason);
        expect(listeners(controller.signal), name).toBe(0);
      }
    });

    it("a wait that is aborted later rejects with the very reason, leaves no listener, and the session is as good as before", async () => {
      const all = await calls(world());
      const observer = await world().open();
      for (const { name, call, waits } of all) {
        if (!waits) continue;
        const controller = new AbortController();
        const reason = new Error(name);
        const outcome = new Outcome(call(controller.signal));
        await observer.queue(world().election, world().signal);
        expect(outcome.settled, name).toBe(false);
        controller.abort(reason);
        await outcome.promise;
        expect(outcome.error, name).toBe(reason);
        expect(listeners(controller.signal), name).toBe(0);
      }
      for (const { name, call, waits } of all) if (!waits && name !== "open" && name !== "close") await call(world().signal);
    });

    it("calls that succeed leave no listener", async () => {
      const { signal } = new AbortController();
      for (const { name, call, waits } of await calls(world())) {
        if (waits) continue;
        const value = await call(signal);
        expect(listeners(signal), name).toBe(0);
        if (name === "open") await (value as { close(signal: AbortSignal): Promise<void> }).close(signal);
      }
    });

    it("waits that are answered leave no listener", async () => {
      const [leader, waiter] = await world().line("a", "b");
      const { election } = world();
      const { signal } = new AbortController();
      const observer = await world().open();
      const seen = await observer.leader(election, signal);
      const waits = [
        leader!.contender.unseated(signal),
        waiter!.contender.moved(waiter!.place!, signal),
        observer.changed(election, seen, signal),
      ];
      await observer.touch(signal);
      await world().harness.evict(election, "a");
      await Promise.all(waits);
      expect(listeners(signal)).toBe(0);
    });

    it("calls that fail leave no listener", async () => {
      const all = await calls(world());
      const { signal } = new AbortController();
      const [close] = all.splice(-1);
      await close!.call(signal);
      for (const { name, call, waits } of all) {
        if (waits || name === "open") continue;
        const outcome = new Outcome(call(signal));
        await outcome.promise;
        expect(outcome.error, name).toMatchObject({ code: "session-ended" });
        expect(listeners(signal), name).toBe(0);
      }
    });

    it("an attempt given up because it took too long leaves the session usable", async () => {
      const [leader] = await world().line("a");
      const controller = new AbortController();
      const reason = timedOut("look", 1);
      const look = new Outcome(leader!.contender.look(controller.signal));
      controller.abort(reason);
      await look.promise;
      expect(look.error).toBe(reason);
      const again = () => leader!.held();
      await until(again, { timeout: leader!.session.ttl, what: "the session is served again" });
    });

    it("opening can be aborted, and another attempt succeeds", async () => {
      const store = await world().harness.newStore("long");
      const controller = new AbortController();
      const opening = new Outcome(store.open({ clock: systemClock }, controller.signal));
      controller.abort(new Error("not now"));
      await opening.promise;
      expect(opening.error).toMatchObject({ message: "not now" });
      const session = await store.open({ clock: systemClock }, world().signal);
      await session.touch(world().signal);
      await session.close(world().signal);
    });
  });
}
