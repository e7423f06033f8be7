import { afterEach, describe, expect, it } from "vitest";
import { Attempts } from "../../src/attempts.js";
import type { Ender } from "../../src/clock.js";
import { ManualClock } from "../../src/manual-clock.js";
import type { Term } from "../../src/term.js";
import { type Call, swallow } from "./support/tapped-store.js";
import { watch } from "./support/watch.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;
const SPAN = TTL - 250;
const RESERVE = TTL / 8;

let world = new World();
afterEach(() => world.end());

describe("an attempt", () => {
  it("ends by its time, by its caller and by the end of all, though the call never settles; no timer is left", async () => {
    const clock = new ManualClock();
    const attempts = new Attempts(clock);
    const caller = new AbortController();
    const signals: Ender[] = [];
    const call = (signal: Ender) => {
      signals.push(signal);
      return swallow<void>();
    };
    const outcomes = [
      watch(attempts.run("first", () => 100, null, call)),
      watch(attempts.run("second", () => 1000, caller.signal, call)),
      watch(attempts.wait(caller.signal, call)),
      watch(attempts.urgent("fourth", 1000, null, call)),
    ];
    await clock.advance(100);
    expect(outcomes[0]?.outcome).toMatchObject({ error: { code: "timeout", message: "first: no answer within 100 ms" } });
    const reason = new Error("enough");
    caller.abort(reason);
    await clock.settle();
    expect(outcomes[1]?.outcome).toEqual({ error: reason });
    expect(outcomes[2]?.outcome).toEqual({ error: reason });
    const over = new Error("over");
    attempts.end(over);
    attempts.end(new Error("twice"));
    await clock.settle();
    expect(outcomes[3]?.outcome).toEqual({ error: over });
    const late = watch(attempts.run("late", () => 1000, null, call));
    await clock.settle();
    expect(late.outcome).toEqual({ error: over });
    expect(signals).toHaveLength(4);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("is not begun when its caller has given up already; a call that throws is a rejection", async () => {
    const attempts = new Attempts(new ManualClock());
    let calls = 0;
    const aborted = AbortSignal.abort(new Error("enough"));
    await expect(
      attempts.run(
        "x",
        () => 100,
        aborted,
        async () => calls++,
      ),
    ).rejects.toThrow("enough");
    await expect(
      attempts.run(
        "x",
        () => 100,
        null,
        () => {
          throw new Error("thrown");
        },
      ),
    ).rejects.toThrow("thrown");
    expect(calls).toBe(0);
  });
});

describe("thousands of attempts at once", () => {
  it("wait for their turn, and their time begins with it; urgent ones and waits do not", async () => {
    const clock = new ManualClock();
    const attempts = new Attempts(clock);
    const finish: (() => void)[] = [];
    const call = () => new Promise<void>((resolve) => finish.push(resolve));
    const giveUp = new AbortController();
    const outcomes = Array.from({ length: 300 }, (_, index) =>
      watch(attempts.run("x", () => 1000, index === 299 ? giveUp.signal : null, call)),
    );
    expect(finish).toHaveLength(256);
    watch(attempts.urgent("proof", 1000, null, call));
    watch(attempts.wait(null, call));
    expect(finish).toHaveLength(258);
    giveUp.abort(new Error("enough"));
    await clock.advance(999);
    for (const one of finish.slice(0, 200)) one();
    await clock.settle();
    expect(finish).toHaveLength(258 + 43);
    await clock.advance(1);
    const settled = (index: number) => outcomes[index]?.outcome;
    expect(settled(255)).toMatchObject({ error: { code: "timeout" } });
    expect(settled(256)).toBeNull();
    expect(settled(299)).toMatchObject({ error: { message: "enough" } });
    await clock.advance(999);
    expect(settled(256)).toMatchObject({ error: { code: "timeout" } });
    attempts.end(new Error("over"));
    await clock.settle();
    expect(clock.pending).toBe(0);
  });
});

describe("one attempt may take at most half of what is left", () => {
  /** Lets every call of this name go unanswered, and notes for how long each was waited for. */
  function time(candidate: Candidate, ...names: Call["name"][]): { name: string; at: number; took: number }[] {
    const times: { name: string; at: number; took: number }[] = [];
    candidate.tap.around = (call, pass) => {
      if (!names.includes(call.name)) return pass();
      const at = candidate.clock.mono();
      call.signal.addEventListener("abort", () => times.push({ name: call.name, at, took: candidate.clock.mono() - at }));
      return swallow();
    };
    return times;
  }

  it("while leading: until admission closes", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const closes = a.clock.mono() + SPAN - RESERVE;
    const times = time(a, "prove");
    await world.clock.advanceUntil(() => !a.elector.isLeader, SPAN);
    expect(times.length).toBeGreaterThan(2);
    for (const { at, took } of times.filter(({ at }) => at < closes - 200))
      expect(took).toBeLessThanOrEqual(Math.max((closes - at) / 2, 100));
    a.tap.around = (_, pass) => pass();
  });

  it("while it waits: until ttl since the last reply", async () => {
    world = new World();
    const [, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const heard = b.clock.mono();
    const times = time(b, "touch", "look");
    await world.clock.advanceUntil(() => b.elector.state === "connecting", 2 * TTL);
    expect(b.clock.mono() - heard).toBeCloseTo(TTL, 3);
    expect(times.length).toBeGreaterThan(3);
    for (const { at, took } of times) expect(took).toBeLessThanOrEqual(Math.max((heard + TTL - at) / 2, 100));
    b.tap.around = (_, pass) => pass();
  });

  it("a withdrawal: the same", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const times = time(a, "withdraw");
    a.elector.resign();
    await world.clock.advance(3 * TTL);
    expect(times.length).toBeGreaterThan(5);
    for (const { took } of times) expect(took).toBeLessThanOrEqual(TTL / 2);
    expect(b.elector.isLeader).toBe(false);
    a.tap.around = (_, pass) => pass();
    await world.clock.advanceUntil(() => b.elector.isLeader, TTL);
  });
});

describe("a store that ignores aborts hangs nothing", () => {
  it.each(["open", "look", "claim", "prove", "touch", "moved", "unseated", "prepare", "withdraw", "close"] as const)(
    "in %s",
    async (name) => {
      world = new World();
      const [b] = (await world.lineUp("b")) as [Candidate];
      const a = world.candidate("a");
      let swallowing = true;
      a.tap.around = (call, pass) => (call.name === name && swallowing ? swallow() : pass());
      a.elector.start();
      await world.clock.advance(1000);
      b.elector.resign();
      await world.clock.advance(TTL);
      a.elector.resign();
      const stopped = watch(a.elector.stop());
      await world.clock.advance(2 * TTL);
      if (name !== "withdraw") {
        expect(stopped.outcome).toEqual({ value: undefined });
        expect(a.clock.pending).toBe(0);
      }
      swallowing = false;
      await world.clock.advance(TTL);
      expect(stopped.outcome).toEqual({ value: undefined });
      const again = world.candidate("again", { with: a, election: "another" });
      again.elector.start();
      await world.clock.advanceUntil(() => again.elector.isLeader, TTL);
      expect(b.elector.isLeader).toBe(true);
    },
  );

  it("an opening that succeeds after it was given up is closed", async () => {
    world = new World();
    const a = world.candidate("a");
    let answer = () => {};
    a.tap.around = async (call, pass) => {
      const result = await pass();
      if (call.name === "open" && call.n === 1)
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      return result;
    };
    a.elector.start();
    await world.clock.settle();
    const stopped = watch(a.elector.stop());
    await world.clock.settle();
    expect([stopped.outcome, world.server.sessions]).toEqual([{ value: undefined }, 1]);
    const b = world.candidate("b", { with: a, election: "another" });
    b.elector.start();
    await world.clock.settle();
    expect(b.elector.isLeader).toBe(true);
    answer();
    await world.clock.settle();
    expect(world.server.sessions).toBe(1);
    await world.clock.advance(2 * TTL);
    expect(b.told).toEqual(["elected"]);
    const term = b.elector.term as Term;
    expect(term.valid).toBe(true);
  });
});
