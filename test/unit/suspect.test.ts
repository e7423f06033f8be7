import { afterEach, describe, expect, it } from "vitest";
import type { Term } from "../../src/term.js";
import { swallow } from "./support/tapped-store.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;
const INTERVAL = 2000;
const SPAN = TTL - 250;

let world: World;
afterEach(() => world.end());

describe("suspect", () => {
  it("is told once, when a proof is unanswered as the next is due; still leader; restored when one is answered", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const remaining: number[] = [];
    a.elector.on("suspect", (event) => void remaining.push(event.remaining));
    a.client.holdReplies();
    await world.clock.advance(2 * INTERVAL - 1);
    expect(a.told).toEqual(["elected"]);
    await world.clock.advance(1);
    expect(a.told).toEqual(["elected", "suspect"]);
    expect(remaining).toEqual([SPAN - 2 * INTERVAL]);
    expect([a.elector.state, a.elector.isLeader]).toEqual(["suspect", true]);
    await world.clock.advance(2 * INTERVAL);
    expect(a.told).toEqual(["elected", "suspect"]);
    expect(a.elector.isLeader).toBe(true);
    a.client.release();
    await world.clock.advance(1);
    expect(a.told).toEqual(["elected", "suspect", "restored"]);
    expect(a.elector.state).toBe("leading");
    await world.clock.advance(10 * INTERVAL);
    expect(a.told).toHaveLength(3);
  });

  it("the next proof is sent though one is pending: a store that swallows one and answers the next", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const term = a.elector.term as Term;
    let first = true;
    a.tap.around = (call, pass) => {
      if (call.name !== "prove" || !first) return pass();
      first = false;
      return swallow();
    };
    await world.clock.advance(INTERVAL);
    expect(first).toBe(false);
    await world.clock.advance(INTERVAL);
    expect(a.told).toEqual(["elected", "suspect", "restored"]);
    expect(term.remaining()).toBe(SPAN);
    await world.clock.advance(10 * TTL);
    expect(a.told).toHaveLength(3);
  });

  it("every second proof swallowed, for an hour: the same term goes on", async () => {
    world = new World({ gap: 1100 });
    const [a] = (await world.lineUp("a")) as [Candidate];
    const term = a.elector.term as Term;
    let n = 0;
    a.tap.around = (call, pass) => (call.name === "prove" && n++ % 2 === 0 ? swallow() : pass());
    await world.clock.advance(600_000);
    expect(term.valid).toBe(true);
    expect(a.told).not.toContain("draining:yielded");
  });

  it("of a session that is shared: each term is told, also one that begins meanwhile, and none is left behind", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const b = world.candidate("b", { with: a, election: "another" });
    const late = world.candidate("late", { with: a, election: "third" });
    b.elector.start();
    await world.clock.settle();
    let lost = true;
    a.tap.around = (call, pass) => (call.name === "prove" && lost ? swallow() : pass());
    await world.clock.advance(2 * INTERVAL);
    expect([a.told.at(-1), b.told.at(-1)]).toEqual(["suspect", "suspect"]);
    late.elector.start();
    await world.clock.settle();
    lost = false;
    await world.clock.advance(INTERVAL);
    expect([a.told, b.told, late.told]).toEqual([["elected", "suspect", "restored"], ["elected", "suspect", "restored"], ["elected"]]);
    lost = true;
    await world.clock.advance(2 * INTERVAL);
    expect([a, b, late].map(({ elector }) => elector.state)).toEqual(["suspect", "suspect", "suspect"]);
    lost = false;
    await world.clock.advance(INTERVAL);
    expect([a, b, late].map(({ elector }) => elector.state)).toEqual(["leading", "leading", "leading"]);
  });

  it("is not told to a term that drains already", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const term = a.elector.term as Term;
    term.waitUntil(new Promise((resolve) => term.signal.addEventListener("abort", resolve)));
    a.elector.resign();
    a.client.holdReplies();
    await world.clock.advance(3 * INTERVAL);
    a.client.release();
    await world.clock.advance(INTERVAL);
    expect(a.told).toEqual(["elected", "draining:resigned"]);
    a.client.partition();
    await world.clock.advance(SPAN);
    a.client.heal();
  });

  it("a failed proof is tried again before the next is due", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    for (let i = 0; i < 4; i++) world.server.failNext("prove");
    const before = a.tap.count("prove");
    await world.clock.advance(2 * INTERVAL - 1);
    expect(a.tap.count("prove") - before).toBe(5);
    expect(a.told).toEqual(["elected"]);
  });
});

describe("a session that only waits", () => {
  it("touches at the pace of proofs, and proves nothing", async () => {
    world = new World();
    const [, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const [touches, proofs] = [b.tap.count("touch"), b.tap.count("prove")];
    await world.clock.advance(10 * INTERVAL);
    expect(b.tap.count("touch") - touches).toBe(10);
    expect(b.tap.count("prove")).toBe(proofs);
  });

  it("goes over to proofs with its first term, and back after its last", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    a.elector.resign();
    await world.clock.advance(1000);
    const before = [a.tap.count("prove"), a.tap.count("touch"), b.tap.count("prove"), b.tap.count("touch")] as const;
    await world.clock.advance(10 * INTERVAL);
    expect([a.tap.count("prove") - before[0], a.tap.count("touch") - before[1]]).toEqual([0, 10]);
    expect([b.tap.count("prove") - before[2], b.tap.count("touch") - before[3]]).toEqual([10, 0]);
  });
});
