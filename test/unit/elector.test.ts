import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import type { LostError } from "../../src/errors.js";
import type { Term } from "../../src/term.js";
import { World } from "./support/world.js";

let world: World;
afterEach(async () => {
  await world.end();
  for (const { clock } of world.candidates) expect(clock.pending).toBe(0);
});

describe("an elector", () => {
  it("leads, hands the seat to the next in line, and stands again at the tail", async () => {
    world = new World();
    const a = world.candidate("a");
    const b = world.candidate("b");
    a.elector.start();
    await world.clock.settle();
    b.elector.start();
    await world.clock.settle();
    expect(a.elector.isLeader).toBe(true);
    expect(b.elector.state).toBe("standby");
    const first = a.elector.term as Term;
    a.elector.resign();
    await world.clock.advance(9);
    expect(b.elector.isLeader).toBe(true);
    expect([a.elector.state, ...a.told]).toEqual(["leaving", "elected", "draining:resigned", "lost:resigned"]);
    await world.clock.advance(1);
    expect(a.told).toEqual(["elected", "draining:resigned", "lost:resigned", "standby"]);
    const second = b.elector.term as Term;
    expect(second.number).toBe(first.number + 1);
    expect(second.fence > first.fence).toBe(true);
    expect(first.valid).toBe(false);
    expect((first.signal.reason as LostError).reason).toBe("resigned");
    expect(
      await world.server
        .client("x")
        .open({ clock: world.clock }, AbortSignal.timeout(100))
        .then(async (s) => {
          const queue = await s.queue("seat", AbortSignal.timeout(100));
          await s.close(AbortSignal.timeout(100));
          return queue.map(({ id, leading }) => [id, leading]);
        }),
    ).toEqual([
      ["b", true],
      ["a", false],
    ]);
  });

  it("is elected after the leader's process has died", async () => {
    world = new World();
    const a = world.candidate("a");
    const b = world.candidate("b");
    a.elector.start();
    await world.clock.settle();
    b.elector.start();
    await world.clock.advance(100);
    a.client.crash();
    a.clock.pause();
    await world.clock.advanceUntil(() => b.elector.isLeader, 12_000);
    expect(a.elector.isLeader).toBe(false);
    a.clock.resume();
    await world.clock.settle();
    expect(a.told.at(-1)).toMatch(/^lost:/);
  });

  it("says no before its successor is elected when it is cut off", async () => {
    world = new World({ gap: 1100 });
    const a = world.candidate("a");
    const b = world.candidate("b");
    a.elector.start();
    await world.clock.settle();
    b.elector.start();
    await world.clock.advance(7345);
    a.client.partition();
    let overlap = 0;
    b.elector.on("elected", () => {
      if (a.elector.isLeader) overlap++;
    });
    await world.clock.advanceUntil(() => b.elector.isLeader, 20_000);
    expect(overlap).toBe(0);
    expect(a.told).toEqual(["elected", "suspect", "draining:yielded", "lost:yielded"]);
    a.client.heal();
    await world.clock.advanceUntil(() => a.elector.state === "standby", 20_000);
  });

  it("keeps its term through an outage that ends before admission closes", async () => {
    world = new World();
    const a = world.candidate("a");
    a.elector.start();
    await world.clock.settle();
    world.server.stop();
    await world.clock.advance(5000);
    expect(a.told).toEqual(["elected", "suspect"]);
    world.server.start();
    await world.clock.advance(3000);
    expect(a.told).toEqual(["elected", "suspect", "restored"]);
    expect(a.elector.isLeader).toBe(true);
  });

  it("loses the seat when an operator removes its entry, and stands again", async () => {
    world = new World();
    const a = world.candidate("a");
    a.elector.start();
    const [term] = (await Promise.all([once(a.elector as never, "elected"), world.clock.settle()]))[0] as [Term];
    world.server.evict("a");
    await world.clock.advance(500);
    expect(a.told.slice(0, 2)).toEqual(["elected", "lost:evicted"]);
    await world.clock.advanceUntil(() => a.elector.isLeader, 5000);
    expect((a.elector.term as Term).fence > term.fence).toBe(true);
  });

  it("never releases the seat under running work: the drain runs out, the deadline comes, the entry stays", async () => {
    world = new World();
    const a = world.candidate("a", { drain: 1000 });
    const b = world.candidate("b");
    let finish = () => {};
    a.elector.on("elected", (term) => term.waitUntil(new Promise<void>((resolve) => (finish = resolve))));
    a.elector.start();
    await world.clock.settle();
    b.elector.start();
    await world.clock.settle();
    a.elector.resign();
    await world.clock.advance(60_000);
    expect(a.told).toEqual(["elected", "draining:resigned", "lost:overrun"]);
    expect(a.elector.state).toBe("ending");
    expect(b.elector.state).toBe("standby");
    finish();
    await world.clock.advance(100);
    expect(b.elector.isLeader).toBe(true);
  });

  it("lead resolves with what its work returns, and withdraws", async () => {
    world = new World();
    const a = world.candidate("a");
    const done = a.elector.lead(async (term) => term.guard(async () => `wrote ${term.token}`));
    await world.clock.settle();
    expect(await done).toMatch(/^wrote \d+$/);
    expect(a.told).toEqual(["elected", "draining:resigned", "lost:resigned", "stopped"]);
  });
});
