import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { elapsed, instant, SystemClock, sleep, systemClock } from "../../src/clock.js";
import { ManualClock } from "../../src/testing.js";

/** Sources that a test moves by hand. */
function sources() {
  const now = { mono: 1000, wall: 50_000, boot: 9000 };
  return { now, read: { mono: () => now.mono, wall: () => now.wall, boot: () => now.boot } };
}

/** Fires one timer of `clock`: that is when it compares with the uptime. */
function fire(clock: SystemClock): Promise<void> {
  return new Promise((resolve) => clock.after(0, resolve));
}

describe("elapsed", () => {
  const at = (mono: number, wall: number) => new ManualClock({ mono, wall });
  const from = { mono: 1000, wall: 1000 };

  it.each([
    ["both agree", 1500, 1500, 500],
    ["the machine was suspended, or the wall clock stepped forward", 1100, 6000, 5000],
    ["the wall clock stepped back", 1500, 200, 500],
    ["no time passed", 1000, 1000, 0],
  ])("is the larger difference: %s", (_, mono, wall, expected) => {
    expect(elapsed(at(mono, wall), from)).toBe(expected);
  });
});

describe("sleep", () => {
  it("resolves after its time and leaves no listener and no timer", async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const slept = sleep(clock, 100, signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await clock.advance(100);
    await slept;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  it("does not resolve before its time", async () => {
    const clock = new ManualClock();
    let done = false;
    void sleep(clock, 100, new AbortController().signal).then(() => {
      done = true;
    });
    await clock.advance(99);
    expect(done).toBe(false);
    await clock.advance(1);
    expect(done).toBe(true);
  });

  it("rejects with the reason of its signal, and leaves no listener and no timer", async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const slept = sleep(clock, 100, controller.signal);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  it("rejects at once when its signal has aborted already", async () => {
    const clock = new ManualClock();
    const reason = new Error("long ago");
    await expect(sleep(clock, 100, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });
});

describe("SystemClock", () => {
  it("reads the machine's clocks", () => {
    expect(Math.abs(systemClock.wall() - Date.now())).toBeLessThan(60_000);
    const before = systemClock.mono();
    expect(systemClock.mono()).toBeGreaterThanOrEqual(before);
    expect(systemClock.random()).toBeGreaterThanOrEqual(0);
    expect(systemClock.random()).toBeLessThan(1);
  });

  it("fires a timer no earlier than asked, also one that has no length", async () => {
    for (const ms of [-5, 0, 20]) {
      const from = instant(systemClock);
      await new Promise<void>((resolve) => systemClock.after(ms, resolve));
      // setTimeout counts whole milliseconds.
      expect(elapsed(systemClock, from)).toBeGreaterThanOrEqual(ms - 1);
    }
  });

  it("does not fire a cancelled timer", async () => {
    let fired = false;
    const timer = systemClock.after(1, () => {
      fired = true;
    });
    timer.cancel();
    await new Promise<void>((resolve) => systemClock.after(20, resolve));
    timer.cancel();
    expect(fired).toBe(false);
  });

  it("fires a timer longer than 2^31 ms when it is due, not at once", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let fired = 0;
      const long = 2 ** 31 * 2.5;
      systemClock.after(long, () => fired++);
      vi.advanceTimersByTime(long - 10);
      expect(fired).toBe(0);
      vi.advanceTimersByTime(20);
      expect(fired).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("cancels a long timer also after it was armed again", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let fired = 0;
      const timer = systemClock.after(2 ** 32, () => fired++);
      vi.advanceTimersByTime(2 ** 31 + 10);
      timer.cancel();
      vi.advanceTimersByTime(2 ** 32);
      expect(fired).toBe(0);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("counts the time that the machine was suspended, once a timer has fired", async () => {
    const { now, read } = sources();
    const clock = new SystemClock(read);
    now.mono += 100;
    now.boot += 30_100;
    expect(clock.mono()).toBe(1100);
    await fire(clock);
    expect(clock.mono()).toBe(31_100);
  });

  it("adds suspensions up, and counts none twice", async () => {
    const { now, read } = sources();
    const clock = new SystemClock(read);
    now.boot += 1000;
    await fire(clock);
    await fire(clock);
    expect(clock.mono()).toBe(2000);
    now.mono += 10;
    now.boot += 2010;
    await fire(clock);
    expect(clock.mono()).toBe(4010);
  });

  it("takes the coarse steps of the uptime for no suspension", async () => {
    const { now, read } = sources();
    const clock = new SystemClock(read);
    now.boot += 50;
    await fire(clock);
    expect(clock.mono()).toBe(1000);
  });

  it("never goes back", async () => {
    const { now, read } = sources();
    const clock = new SystemClock(read);
    now.boot += 10_000;
    await fire(clock);
    const before = clock.mono();
    now.boot -= 20_000;
    await fire(clock);
    expect(clock.mono()).toBe(before);
  });
});
