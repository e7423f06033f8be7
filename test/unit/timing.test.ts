import { afterEach, describe, expect, it } from "vitest";
import { checkReserve, defaultReserve, longestReserve, timingOf } from "../../src/timing.js";
import { swallow } from "./support/tapped-store.js";
import { watch } from "./support/watch.js";
import { type Candidate, World } from "./support/world.js";

let world = new World();
afterEach(() => world.end());

describe("timing", () => {
  it.each([
    // ttl, gap, margin, interval, longest reserve
    [15_000, 0, 300, 3000, 8700],
    [15_000, 3850, 300, 3000, 2700],
    [10_000, 0, 250, 2000, 5750],
    [10_000, 2600, 250, 2000, 1750],
    [4000, 1100, 250, 800, 550],
    [4000, 1000, 250, 800, 550],
    [3000, 850, 250, 600, 350],
    [60_000, 15_100, 1200, 3000, 34_800],
    [2000, 0, 250, 400, 950],
  ])("of ttl %i with gap %i: margin %i, a proof every %i, the longest reserve %i", (ttl, gap, margin, interval, longest) => {
    const timing = timingOf({ ttl, gap });
    expect(timing).toMatchObject({ ttl, gap, margin, interval });
    expect(longestReserve(timing)).toBe(longest);
    checkReserve(longest, true, timing);
    expect(() => checkReserve(longest + 1, true, timing)).toThrow(expect.objectContaining({ code: "config", option: "reserve" }));
  });

  it("defaults fit a ttl of 4 s with ZooKeeper's gap, and 3 s only with `tickTime`", () => {
    const zookeeper = (ttl: number) => timingOf({ ttl, gap: ttl / 4 + 100 });
    checkReserve(defaultReserve(4000), false, zookeeper(4000));
    expect(() => checkReserve(defaultReserve(3000), false, zookeeper(3000))).toThrow(/tickTime/);
    checkReserve(defaultReserve(3000), false, timingOf({ ttl: 3000, gap: 200 / 2 + 100 }));
  });

  it("the error shows the numbers and what to change", () => {
    expect(() => checkReserve(1000, true, timingOf({ ttl: 4000, gap: 1100 }))).toThrow(
      /1000 ms is too long.* session timeout of 4000 ms.* every 800 ms.* 1100 ms older.* margin of 250 ms.* at most 550 ms.*Lower `reserve` or raise the session timeout.*tickTime/,
    );
    expect(() => checkReserve(1, true, timingOf({ ttl: 1000, gap: 350 }))).toThrow(
      /no reserve is short enough\. Raise the session timeout/,
    );
  });
});

describe("a reserve that does not fit what the store granted", () => {
  it("is a ConfigError that ends the elector; lead rejects; nothing is left", async () => {
    world = new World({ ttl: 4000, gap: 1100 });
    const a = world.candidate("a", { reserve: "1s" });
    const led = watch(a.elector.lead(() => 1));
    await world.clock.settle();
    expect(led.outcome).toMatchObject({ error: { code: "config", option: "reserve" } });
    expect(a.told).toEqual(["stopped"]);
    expect(a.tap.names()).toEqual(["open", "close"]);
    expect(world.server.sessions).toBe(0);
    const b = world.candidate("b", { reserve: 550 });
    b.elector.start();
    await world.clock.settle();
    expect(b.elector.isLeader).toBe(true);
  });

  it("of one elector does not disturb the others on its session", async () => {
    world = new World({ ttl: 4000, gap: 1100 });
    const [a] = (await world.lineUp("a")) as [Candidate];
    const b = world.candidate("b", { with: a, election: "another", reserve: 3000 });
    b.elector.start();
    await world.clock.settle();
    expect([b.elector.state, a.elector.isLeader]).toEqual(["stopped", true]);
  });
});

describe("one lost proof does not drain a term, even with the longest reserve that is allowed", () => {
  it.each([
    [4000, 1100],
    [4000, 1000],
    [10_000, 2600],
    [15_000, 3850],
    [8000, 1100],
    [10_000, 0],
  ])("ttl %i, gap %i", async (ttl, gap) => {
    world = new World({ ttl, gap, latency: 20 });
    const a = world.candidate("a", { reserve: longestReserve(timingOf({ ttl, gap })) - 45 });
    a.elector.start();
    await world.clock.advanceUntil(() => a.elector.isLeader, 5000);
    let n = 0;
    a.tap.around = (call, pass) => (call.name === "prove" && ++n % 7 === 0 ? swallow() : pass());
    await world.clock.advance(30 * ttl);
    expect(n).toBeGreaterThan(100);
    expect(a.told.filter((event) => !/suspect|restored/.test(event))).toEqual(["elected"]);
    a.tap.around = (_, pass) => pass();
  });
});
