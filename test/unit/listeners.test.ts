import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Elector } from "../../src/elector.js";
import type { Term } from "../../src/term.js";
import { type Candidate, gate, World } from "./support/world.js";

let world: World;
afterEach(() => world.end());

describe("promises that listeners return", () => {
  it.each(["elected", "draining"] as const)("of `%s` hold the seat", async (event) => {
    world = new World();
    const a = world.candidate("a");
    const work = gate();
    a.elector.on(event, () => work.promise);
    a.elector.start();
    await world.clock.settle();
    const [b] = await world.lineUp("b");
    a.elector.resign();
    await world.clock.advance(5000);
    expect([a.elector.state, b?.elector.state]).toEqual(["draining", "standby"]);
    work.open();
    await world.clock.settle();
    expect(b?.elector.isLeader).toBe(true);
  });
});

describe("listeners", () => {
  it("once, off and the returned unsubscribe; adding twice has no effect", async () => {
    world = new World();
    const a = world.candidate("a");
    const calls: string[] = [];
    const both = () => void calls.push("both");
    const removed = () => void calls.push("removed");
    a.elector.on("elected", both);
    a.elector.on("elected", both);
    a.elector.once("elected", () => void calls.push("once"));
    const off = a.elector.on("elected", () => void calls.push("off"));
    a.elector.on("elected", removed);
    a.elector.off("elected", removed);
    a.elector.off("lost", removed);
    off();
    off();
    a.elector.start();
    await world.clock.settle();
    a.elector.resign();
    await world.clock.advance(500);
    expect(calls).toEqual(["both", "once", "both"]);
    expect(() => a.elector.on("elected", "no function" as never)).toThrow(TypeError);
  });

  it("added or removed by a listener: from the next event on", async () => {
    world = new World();
    const a = world.candidate("a");
    const calls: string[] = [];
    const late = () => void calls.push("late");
    a.elector.once("elected", () => void a.elector.on("elected", late));
    a.elector.start();
    await world.clock.settle();
    expect(calls).toEqual([]);
    a.elector.resign();
    await world.clock.advance(500);
    expect(calls).toEqual(["late"]);
  });

  it("events.once of Node works", async () => {
    world = new World();
    const a = world.candidate("a");
    const emitter = a.elector as unknown as NodeJS.EventEmitter;
    const elected = once(emitter, "elected");
    a.elector.start();
    await world.clock.settle();
    const [term] = (await elected) as [Term];
    expect(term).toBe(a.elector.term);
    const abort = new AbortController();
    const waiting = once(emitter, "lost", { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow();
  });
});

describe("elected()", () => {
  it("resolves with the present term, or the next; rejects on stop and on its signal", async () => {
    world = new World();
    const a = world.candidate("a");
    const next = a.elector.elected();
    a.elector.start();
    await world.clock.settle();
    expect(await next).toBe(a.elector.term);
    expect(await a.elector.elected()).toBe(a.elector.term);
    const [b] = (await world.lineUp("b")) as [Candidate];
    const outcome = (elector: Elector, signal?: AbortSignal) => elector.elected(signal ? { signal } : {}).catch((error: unknown) => error);
    const abort = new AbortController();
    const aborted = outcome(b.elector, abort.signal);
    const stopped = outcome(b.elector);
    const reason = new Error("enough");
    abort.abort(reason);
    expect(await aborted).toBe(reason);
    expect(await outcome(b.elector, abort.signal)).toBe(reason);
    await Promise.all([b.elector.stop(), world.clock.settle()]);
    expect(await stopped).toMatchObject({ code: "stopped" });
  });
});

describe("overrun", () => {
  it("`exit` ends the process with 70 once `lost` has been told", async () => {
    const exit = vi.spyOn(process, "exit").mockImplementation((() => undefined) as never);
    try {
      world = new World();
      const a = world.candidate("a", { overrun: "exit" });
      const work = gate();
      a.elector.on("elected", () => work.promise);
      a.elector.start();
      await world.clock.settle();
      a.client.partition();
      await world.clock.advance(9749);
      expect(exit).not.toHaveBeenCalled();
      await world.clock.advance(1);
      expect(a.told.at(-1)).toBe("lost:overrun");
      expect(exit).toHaveBeenCalledWith(70);
      a.client.heal();
      work.open();
    } finally {
      exit.mockRestore();
    }
  });
});
