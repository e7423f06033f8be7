import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import type { Term } from "../../src/term.js";
import { swallow } from "./support/tapped-store.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

type Three = [Candidate, Candidate, Candidate];
const regressed = ({ warnings }: Candidate) => warnings.filter((error) => (error as { code?: string }).code === "fence-regressed");
const ids = async () => (await world.line()).map((id) => id.replace("*", "")).sort();

describe("a seat found held", () => {
  it("whose deadline cannot be made fresh is handed on without `elected`", async () => {
    world = new World();
    const [a, b, c] = (await world.lineUp("a", "b", "c")) as Three;
    await world.clock.advance(3 * TTL);
    b.tap.around = (call, pass) => (call.name === "prove" ? swallow() : pass());
    a.elector.resign();
    await world.clock.advanceUntil(() => c.elector.isLeader, 2 * TTL);
    expect(b.told).toEqual(["standby"]);
    expect(b.elector.isLeader).toBe(false);
    b.tap.around = (_, pass) => pass();
    await world.clock.advanceUntil(() => b.elector.state === "standby", TTL);
    expect(await world.line()).toEqual(["c*", "a", "b"]);
  });

  it("whose proofs vouch for too long ago is handed on without `elected`", async () => {
    world = new World();
    const [a, b, c] = (await world.lineUp("a", "b", "c")) as Three;
    await world.clock.advance(3 * TTL);
    const old = { mono: b.clock.mono() - TTL, wall: b.clock.wall() - TTL };
    b.tap.around = async (call, pass) => {
      const reply = await pass();
      return call.name === "prove" ? ({ vouchedAt: old } as typeof reply) : reply;
    };
    a.elector.resign();
    await world.clock.advanceUntil(() => c.elector.isLeader, TTL);
    expect(b.told).toEqual(["standby"]);
    b.tap.around = (_, pass) => pass();
  });

  it("by an elector that is stopping is handed on without `elected`", async () => {
    world = new World();
    const [a, b, c] = (await world.lineUp("a", "b", "c")) as Three;
    b.tap.around = (call, pass) => (call.name === "prove" ? swallow() : pass());
    await world.clock.advance(3 * TTL);
    a.elector.resign();
    await world.clock.advance(10);
    expect(await world.line()).toEqual(["b*", "c", "a"]);
    const stopped = b.elector.stop();
    await world.clock.settle();
    await stopped;
    expect(b.told).toEqual(["standby", "stopped"]);
    expect(c.elector.isLeader).toBe(true);
  });

  it("is entered after a wake-up with one proof, in the same flight as the look", async () => {
    world = new World({ gap: 1100 });
    const [a, b] = (await world.lineUp("a", "b")) as Three;
    await world.clock.advance(10 * TTL);
    const before = b.tap.calls.length;
    let answers = -1;
    b.tap.around = (call, pass) => {
      if (call.name === "look") answers = b.tap.answered;
      // Nothing has been answered since the look was sent: not the look either.
      if (call.name === "prove") expect(b.tap.answered).toBe(answers);
      return pass();
    };
    a.elector.resign();
    await world.clock.settle();
    expect(b.elector.isLeader).toBe(true);
    expect(b.tap.names().slice(before)).toEqual(["look", "prove", "unseated"]);
    expect(answers).toBeGreaterThan(0);
    expect((b.elector.term as Term).remaining()).toBeGreaterThan(TTL / 2);
  });

  it("with a gap, after a reconnect: by a second proof that vouches for the first", async () => {
    const gap = 2600;
    world = new World({ gap });
    const [a, b] = (await world.lineUp("a", "b")) as Three;
    await world.clock.advance(3 * TTL);
    let proofs = 0;
    b.tap.around = async (call, pass) => {
      const reply = await pass();
      if (call.name !== "prove" || proofs++ > 0) return reply;
      return { vouchedAt: { mono: b.clock.mono() - TTL, wall: b.clock.wall() - TTL } } as typeof reply;
    };
    const from = world.clock.mono();
    a.elector.resign();
    await world.clock.advanceUntil(() => b.elector.isLeader, TTL);
    expect(world.clock.mono() - from).toBeLessThanOrEqual(gap);
    expect(b.told).toEqual(["standby", "elected"]);
  });
});

describe("a fence that fell (a wiped store)", () => {
  it("leaders and standbys are back, and each process refuses a lower fence at most once, with one warning", async () => {
    world = new World();
    const all = (await world.lineUp("a", "b", "c")) as Three;
    for (let round = 0; round < 7; round++) {
      all.find(({ elector }) => elector.isLeader)?.elector.resign();
      await world.clock.advance(500);
    }
    const fence = all.find(({ elector }) => elector.isLeader)?.elector.term?.fence as bigint;
    world.server.wipe();
    await world.clock.advanceUntil(() => all.some(({ elector }) => elector.isLeader), 2 * TTL);
    await world.clock.advance(TTL);
    expect(await ids()).toEqual(["a", "b", "c"]);
    for (let round = 0; round < 9; round++) {
      all.find(({ elector }) => elector.isLeader)?.elector.resign();
      await world.clock.advanceUntil(() => all.some(({ elector }) => elector.isLeader), TTL);
      await world.clock.advance(3000);
    }
    for (const candidate of all) expect(regressed(candidate).length).toBeLessThanOrEqual(1);
    expect(all.flatMap(regressed).length).toBeGreaterThan(0);
    expect(fence).toBeGreaterThan(7n);
  });

  it("is refused also by a process that saw the higher one only while it waited", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Three;
    for (let round = 0; round < 5; round++) {
      const x = world.candidate(`x${round}`);
      x.elector.start();
      await world.clock.settle();
      await x.elector.stop();
    }
    await world.clock.advance(1000);
    a.elector.resign();
    await world.clock.settle();
    b.elector.resign();
    await world.clock.advance(500);
    const [c] = await world.lineUp("c");
    a.client.crash();
    b.client.crash();
    world.server.wipe();
    await world.clock.advanceUntil(() => c?.elector.isLeader === true, TTL);
    expect(regressed(c as Candidate)).toHaveLength(1);
    expect(c?.told).toEqual(["standby", "elected"]);
  });

  it("is refused before `elected`, the seat is freed by a plain withdrawal, and the next one is taken", async () => {
    world = new World();
    const a = world.candidate("a");
    a.elector.start();
    await world.clock.settle();
    for (let round = 0; round < 5; round++) {
      a.elector.resign();
      await world.clock.advance(1500);
    }
    expect(a.elector.isLeader).toBe(true);
    const told = a.told.length;
    const withdrawn = a.tap.count("withdraw");
    world.server.wipe();
    await world.clock.advanceUntil(() => a.tap.count("withdraw") > withdrawn, TTL);
    expect(a.told.slice(told)).toEqual(["lost:session-ended"]);
    expect(a.tap.calls.findLast(({ name }) => name === "withdraw")?.how).toBe("free");
    expect(regressed(a)).toHaveLength(1);
    await world.clock.advanceUntil(() => a.elector.isLeader, TTL);
    expect(regressed(a)).toHaveLength(1);
    expect(a.told.slice(told)).toEqual(["lost:session-ended", "elected"]);
  });

  it("under a running term, on a restored store that names somebody else: lost as fence-regressed", async () => {
    world = new World();
    const [x, a] = (await world.lineUp("x", "a")) as Three;
    const snapshot = world.server.snapshot();
    await x.elector.stop();
    await world.clock.advance(1000);
    expect(a.elector.isLeader).toBe(true);
    world.server.restore(snapshot);
    await world.clock.settle();
    expect(a.told).toEqual(["standby", "elected", "lost:fence-regressed"]);
    await world.clock.advanceUntil(() => a.elector.isLeader, 5 * TTL);
    expect(regressed(a).length).toBeLessThanOrEqual(1);
    expect(await world.line()).toEqual(["a*"]);
  });
});

describe("a seat taken away by force", () => {
  it("entry deleted: lost (evicted) within one watch, and no rewriting of the store disturbs a leader", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Three;
    world.server.evict("a");
    await world.clock.settle();
    expect(a.told).toEqual(["elected", "lost:evicted"]);
    expect(b.elector.isLeader).toBe(true);
  });

  it("another term written down while the entry is there: superseded", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    world.server.supersede("seat");
    await world.clock.settle();
    expect(a.told).toEqual(["elected", "lost:superseded"]);
    await world.clock.advanceUntil(() => a.elector.isLeader, 2000);
  });

  it("everything of the election deleted: leaders and standbys are back, one entry each", async () => {
    world = new World();
    const all = (await world.lineUp("a", "b", "c")) as Three;
    world.server.deleteElection("seat");
    await world.clock.advanceUntil(() => all.some(({ elector }) => elector.isLeader), TTL);
    await world.clock.advance(TTL);
    expect(await ids()).toEqual(["a", "b", "c"]);
  });

  it("a leader that may not look at its seat any more drains, hands over, and stops with the error", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Three;
    const refused = new StoreError("auth", "may not look");
    b.tap.around = (call, pass) => (call.name === "unseated" ? Promise.reject(refused) : pass());
    a.elector.resign();
    await world.clock.advanceUntil(() => b.elector.state === "stopped", TTL);
    expect(b.told).toEqual(["standby", "elected", "draining:yielded", "lost:yielded", "stopped"]);
    expect(b.warnings).toEqual([refused]);
    await world.clock.advanceUntil(() => a.elector.isLeader, TTL);
    expect(await world.line()).toEqual(["a*"]);
  });

  it("a waiter evicted: stands again at the tail, without a word", async () => {
    world = new World();
    const [, b] = (await world.lineUp("a", "b", "c")) as Three;
    world.server.evict("b");
    await world.clock.advanceUntil(() => b.elector.state === "standby", 1000);
    expect(await world.line()).toEqual(["a*", "c", "b"]);
  });
});

describe("what is not tenure's own", () => {
  it("present at the first look: refused, lead rejects, nothing is left", async () => {
    world = new World();
    world.server.inject("seat", "somebody's file");
    const a = world.candidate("a");
    const led = a.elector.lead(async () => "never").catch((error) => error);
    await world.clock.settle();
    expect(await led).toMatchObject({ code: "foreign-data", message: expect.stringContaining("somebody's file") });
    expect(a.told).toEqual(["stopped"]);
    expect(await world.line()).toEqual([]);
  });

  it("appearing later: ignored, one warning", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Three;
    world.server.inject("seat", "somebody's file");
    for (let round = 0; round < 6; round++) {
      [a, b].find(({ elector }) => elector.isLeader)?.elector.resign();
      await world.clock.advance(500);
    }
    for (const { warnings } of [a, b])
      expect(warnings.filter((error) => (error as { code?: string }).code === "foreign-data")).toHaveLength(1);
  });
});
