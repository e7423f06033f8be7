import { describe, expect, it } from "vitest";
import { elapsed, instant, sleep } from "../../src/clock.js";
import { ManualClock } from "../../src/testing.js";

const never = new AbortController().signal;

/** Logs `name` and the time that has passed since `clock` was made. */
function logger(clock: ManualClock): { log: string[]; at: (ms: number, name: string, on?: ManualClock) => void } {
  const log: string[] = [];
  const start = clock.mono();
  return { log, at: (ms, name, on = clock) => void on.after(ms, () => log.push(`${name}@${clock.mono() - start}`)) };
}

describe("ManualClock", () => {
  it("stands still unless it is advanced", async () => {
    const clock = new ManualClock({ mono: 5, wall: 7 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(instant(clock)).toEqual({ mono: 5, wall: 7 });
    await clock.advance(10);
    expect(instant(clock)).toEqual({ mono: 15, wall: 17 });
  });

  it("fires timers in the order of their due time, then of their making, each at its time", async () => {
    const clock = new ManualClock();
    const { log, at } = logger(clock);
    at(20, "late");
    at(10, "first");
    at(10, "second");
    at(30, "beyond");
    await clock.advance(25);
    expect(log).toEqual(["first@10", "second@10", "late@20"]);
    expect(clock.pending).toBe(1);
  });

  it("fires what a timer adds within the same advance", async () => {
    const clock = new ManualClock();
    const ticks: number[] = [];
    const tick = () => {
      ticks.push(clock.mono());
      clock.after(10, tick);
    };
    clock.after(10, tick);
    await clock.advance(35);
    expect(ticks).toEqual([1010, 1020, 1030]);
  });

  it("lets promise chains of any length settle between two timers", async () => {
    const clock = new ManualClock();
    const log: string[] = [];
    const work = async () => {
      await sleep(clock, 10, never);
      for (let step = 0; step < 50; step++) await null;
      log.push("chain");
      await sleep(clock, 5, never);
      log.push("slept again");
    };
    const done = work();
    clock.after(11, () => log.push("timer"));
    await clock.advance(20);
    await done;
    expect(log).toEqual(["chain", "timer", "slept again"]);
  });

  it("does not fire a cancelled timer, and cancelling twice is harmless", async () => {
    const clock = new ManualClock();
    const { log, at } = logger(clock);
    const timer = clock.after(10, () => log.push("cancelled"));
    at(10, "kept");
    timer.cancel();
    timer.cancel();
    await clock.advance(20);
    expect(log).toEqual(["kept@10"]);
    expect(clock.pending).toBe(0);
  });

  it("one timer can cancel another that is due at the same time", async () => {
    const clock = new ManualClock();
    const log: string[] = [];
    clock.after(10, () => other.cancel());
    const other = clock.after(10, () => log.push("other"));
    await clock.advance(10);
    expect(log).toEqual([]);
  });

  it("takes a time in the past as now, any length, and refuses NaN", async () => {
    const clock = new ManualClock();
    const { log, at } = logger(clock);
    at(-5, "past");
    at(2 ** 33, "far");
    await clock.advance(2 ** 33 - 1);
    expect(log).toEqual(["past@0"]);
    await clock.advance(1);
    expect(log).toEqual(["past@0", `far@${2 ** 33}`]);
    expect(() => clock.after(Number.NaN, () => {})).toThrow(RangeError);
  });

  it("runs advances that overlap one after the other", async () => {
    const clock = new ManualClock();
    const { log, at } = logger(clock);
    at(5, "a");
    at(15, "b");
    await Promise.all([clock.advance(10), clock.advance(10)]);
    expect(log).toEqual(["a@5", "b@15"]);
    expect(clock.mono()).toBe(1020);
  });

  it("advances until something holds, no further, and says when it never does", async () => {
    const clock = new ManualClock();
    let count = 0;
    const tick = () => {
      count++;
      clock.after(10, tick);
    };
    clock.after(10, tick);
    await clock.advanceUntil(() => count === 3, 1000);
    expect(clock.mono()).toBe(1030);
    await expect(clock.advanceUntil(() => count === 1000, 100)).rejects.toThrow("within 100 ms");
    expect(clock.mono()).toBe(1130);
  });

  it("steps the wall clock alone", () => {
    const clock = new ManualClock();
    const before = instant(clock);
    clock.stepWall(3000);
    expect(elapsed(clock, before)).toBe(3000);
    clock.stepWall(-10_000);
    expect(elapsed(clock, before)).toBe(0);
    expect(clock.mono()).toBe(before.mono);
  });

  it("a suspension moves the wall clock and makes timers late", async () => {
    const clock = new ManualClock();
    const before = instant(clock);
    const other = clock.process();
    const fired: number[] = [];
    clock.after(100, () => fired.push(other.mono() - before.mono));
    const others: number[] = [];
    other.after(5000, () => others.push(other.mono() - before.mono));
    await clock.advance(50);
    await clock.suspend(10_000);
    expect(fired).toEqual([]);
    expect(others).toEqual([5000]);
    expect(clock.mono() - before.mono).toBe(50);
    expect(clock.wall() - before.wall).toBe(10_050);
    expect(elapsed(clock, before)).toBe(10_050);
    await clock.advance(50);
    expect(fired).toEqual([10_100]);
  });

  it("a freeze moves neither clock", async () => {
    const clock = new ManualClock();
    const other = clock.process();
    const before = instant(clock);
    await clock.freeze(10_000);
    expect(elapsed(clock, before)).toBe(0);
    expect(elapsed(other, before)).toBe(10_000);
  });

  it("a paused process sees time pass and fires nothing; on resume everything overdue fires in order", async () => {
    const clock = new ManualClock();
    const paused = clock.process();
    const { log, at } = logger(clock);
    at(20, "second", paused);
    at(10, "first", paused);
    at(5000, "later", paused);
    at(15, "other");
    paused.pause();
    await clock.advance(1000);
    expect(log).toEqual(["other@15"]);
    expect(paused.mono()).toBe(2000);
    await paused.resume();
    expect(log).toEqual(["other@15", "first@1000", "second@1000"]);
    await clock.advance(4000);
    expect(log.at(-1)).toBe("later@5000");
  });

  it("after a resume nothing has fired before the code that called it goes on", async () => {
    const clock = new ManualClock();
    let fired = false;
    clock.after(10, () => {
      fired = true;
    });
    clock.pause();
    await clock.advance(1000);
    const resumed = clock.resume();
    expect(fired).toBe(false);
    await resumed;
    expect(fired).toBe(true);
  });

  it("processes share time and have timers, wall clock and chance of their own", async () => {
    const clock = new ManualClock({ seed: 1 });
    const other = clock.process({ wall: 0, mono: 0, seed: 2 });
    await clock.advance(100);
    expect(instant(other)).toEqual({ mono: 100, wall: 100 });
    other.stepWall(50);
    expect(clock.wall()).toBe(Date.UTC(2026, 0, 1) + 100);
    other.after(10, () => {});
    expect([clock.pending, other.pending]).toEqual([0, 1]);
    expect(clock.random()).not.toBe(other.random());
  });

  it("gives the same random numbers for the same seed, between 0 and 1, spread out", () => {
    const draw = (seed: number) => {
      const clock = new ManualClock({ seed });
      return Array.from({ length: 1000 }, () => clock.random());
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    for (const seed of [0, 1, 2, 0x5bf03635, 2 ** 32 - 1]) {
      const numbers = draw(seed);
      expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...numbers)).toBeLessThan(1);
      const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
      expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
    }
  });
});
