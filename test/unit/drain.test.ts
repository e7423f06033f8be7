import { afterEach, describe, expect, it } from "vitest";
import type { DrainingError } from "../../src/errors.js";
import type { Term } from "../../src/term.js";
import { type Candidate, gate, World } from "./support/world.js";

const TTL = 10_000;
const SPAN = TTL - 250;
const RESERVE = TTL / 8;

let world: World;
afterEach(() => world.end());

function hold(candidate: Candidate) {
  const work = gate();
  candidate.elector.on("elected", (term) => term.waitUntil(work.promise));
  return work;
}

describe("admission", () => {
  it("closes at the deadline less the reserve, and guard still works until the deadline", async () => {
    world = new World();
    const a = world.candidate("a");
    const work = hold(a);
    a.elector.start();
    await world.clock.settle();
    const term = a.elector.term as Term;
    a.client.holdReplies();
    await world.clock.advance(SPAN - RESERVE - 1);
    expect(term.draining.aborted).toBe(false);
    await world.clock.advance(1);
    expect(term.draining.aborted).toBe(true);
    expect((term.draining.reason as DrainingError).reason).toBe("yielded");
    expect(term.signal.aborted).toBe(false);
    expect(await term.guard(() => "still works")).toBe("still works");
    await world.clock.advance(RESERVE - 1);
    expect(await term.guard(() => "still works")).toBe("still works");
    await world.clock.advance(1);
    await expect(term.guard(() => "too late")).rejects.toMatchObject({ reason: "overrun" });
    expect(a.told).toEqual(["elected", "suspect", "draining:yielded", "lost:overrun"]);
    work.open();
  });

  it("stays closed though proofs return; the work ends, the seat is handed on with `yielded`, the candidate stands again", async () => {
    world = new World();
    const a = world.candidate("a");
    const work = hold(a);
    a.elector.start();
    await world.clock.settle();
    const [b] = await world.lineUp("b");
    const term = a.elector.term as Term;
    a.client.holdReplies();
    await world.clock.advanceUntil(() => term.draining.aborted, SPAN);
    a.client.release();
    await world.clock.advance(2 * TTL);
    expect([term.valid, term.draining.aborted]).toEqual([true, true]);
    expect(term.remaining()).toBeGreaterThan(RESERVE);
    expect(a.elector.state).toBe("draining");
    expect(b?.elector.state).toBe("standby");
    work.open();
    await world.clock.settle();
    expect(b?.elector.isLeader).toBe(true);
    await world.clock.advanceUntil(() => a.elector.state === "standby", 2000);
    expect(a.told).toEqual(["elected", "suspect", "draining:yielded", "lost:yielded", "standby"]);
    expect(await world.line()).toEqual(["b*", "a"]);
  });

  it("closes though a proof is answered in the reserve before any timer", async () => {
    world = new World();
    const a = world.candidate("a");
    const work = hold(a);
    a.elector.start();
    await world.clock.settle();
    await world.clock.advance(1000);
    a.client.holdReplies();
    await world.clock.advance(2000);
    a.clock.pause();
    await world.clock.advance(SPAN - RESERVE - 3000);
    expect(a.elector.term?.remaining()).toBe(RESERVE);
    a.client.release();
    await world.clock.settle();
    expect(a.told).toEqual(["elected", "draining:yielded"]);
    await a.clock.resume();
    work.open();
  });

  it("after a pause into the reserve: draining before anything else", async () => {
    world = new World();
    const a = world.candidate("a");
    const work = hold(a);
    a.elector.start();
    await world.clock.settle();
    a.clock.pause();
    await world.clock.advance(SPAN - RESERVE + 1);
    await a.clock.resume();
    await world.clock.advance(1000);
    expect(a.told).toEqual(["elected", "draining:yielded"]);
    work.open();
  });
});

describe("drain", () => {
  it.each(["resign", "stop"] as const)(
    "runs out after %s(): then the deadline stands still and comes, though proofs go on",
    async (how) => {
      world = new World();
      const a = world.candidate("a", { drain: 3000 });
      const work = hold(a);
      a.elector.start();
      await world.clock.settle();
      const [b] = await world.lineUp("b");
      const term = a.elector.term as Term;
      await world.clock.advance(2500);
      void a.elector[how]();
      await world.clock.advance(2999);
      expect(term.remaining()).toBe(SPAN - 1499);
      const proofs = a.tap.count("prove");
      await world.clock.advance(SPAN - 1500);
      expect(term.remaining()).toBe(1);
      expect(a.tap.count("prove")).toBeGreaterThan(proofs + 2);
      await world.clock.advance(1);
      expect([term.valid, a.told.at(-1)]).toEqual([false, "lost:overrun"]);
      await world.clock.advance(5 * TTL);
      expect(await world.line()).toEqual(["a*", "b"]);
      expect(a.elector.state).toBe("ending");
      work.open();
      await world.clock.settle();
      expect(b?.elector.isLeader).toBe(true);
      expect(a.tap.count("close")).toBe(how === "stop" ? 1 : 0);
    },
  );

  it("bounds an unwanted draining too: proofs returned, the work goes on, and the term ends all the same", async () => {
    world = new World();
    const a = world.candidate("a", { drain: 5000 });
    const work = hold(a);
    a.elector.start();
    await world.clock.settle();
    const term = a.elector.term as Term;
    a.client.holdReplies();
    await world.clock.advanceUntil(() => term.draining.aborted, SPAN);
    a.client.release();
    await world.clock.advance(5000);
    expect(term.valid).toBe(true);
    await world.clock.advance(SPAN);
    expect(a.told.at(-1)).toBe("lost:overrun");
    expect(await world.line()).toEqual(["a*"]);
    work.open();
  });

  it("a proof does not move a deadline that stands still, nor a confirm()", async () => {
    world = new World();
    const a = world.candidate("a", { drain: 0 });
    const work = hold(a);
    a.elector.start();
    await world.clock.settle();
    const term = a.elector.term as Term;
    a.elector.resign();
    await world.clock.advance(4000);
    expect(term.remaining()).toBe(SPAN - 4000);
    await term.confirm();
    expect(term.remaining()).toBe(SPAN - 4000);
    work.open();
  });

  it("work that settles in time ends the term at once, with the reason of the draining", async () => {
    world = new World();
    const a = world.candidate("a", { drain: 3000 });
    const work = hold(a);
    a.elector.start();
    await world.clock.settle();
    a.elector.resign();
    await world.clock.advance(1000);
    expect(a.elector.isLeader).toBe(true);
    work.open();
    await world.clock.advance(10);
    expect(a.told).toEqual(["elected", "draining:resigned", "lost:resigned", "elected"]);
  });

  it("one overdue work among 100 elections on one session ends its own term only", async () => {
    world = new World();
    const late = world.candidate("late", { election: "e0", drain: 1000 });
    const others = Array.from({ length: 99 }, (_, i) => world.candidate(`c${i + 1}`, { with: late, election: `e${i + 1}` }));
    const waiting = world.candidate("waiting", { election: "e0" });
    const work = hold(late);
    for (const { elector } of [late, ...others, waiting]) elector.start();
    await world.clock.settle();
    late.elector.resign();
    await world.clock.advanceUntil(() => late.told.includes("lost:overrun"), 2 * TTL);
    await world.clock.advance(2 * TTL);
    expect(others.filter(({ elector, told }) => elector.isLeader && told.length === 1)).toHaveLength(99);
    expect(late.client.sessions).toHaveLength(1);
    expect(late.tap.count("open")).toBe(1);
    expect(await world.line("e0")).toEqual(["late*", "waiting"]);
    work.open();
    await world.clock.settle();
    expect(waiting.elector.isLeader).toBe(true);
  });

  it("an overdue work keeps its seat when all others have left the session, until it settles", async () => {
    world = new World();
    const late = world.candidate("late", { election: "e0", drain: 1000 });
    const other = world.candidate("other", { with: late, election: "e1" });
    const work = hold(late);
    for (const { elector } of [late, other]) elector.start();
    await world.clock.settle();
    const stopped = late.elector.stop();
    await world.clock.advance(2 * TTL);
    await other.elector.stop();
    await world.clock.advance(10 * TTL);
    expect(await world.line("e0")).toEqual(["late*"]);
    expect(late.tap.count("close")).toBe(0);
    work.open();
    await world.clock.settle();
    await stopped;
    expect(await world.line("e0")).toEqual([]);
    expect(world.server.sessions).toBe(0);
  });

  it("an overdue work on a session past its deadline: nothing more is sent, though the others' work has settled", async () => {
    world = new World();
    const late = world.candidate("late", { election: "e0", drain: 0 });
    const other = world.candidate("other", { with: late, election: "e1" });
    const work = hold(late);
    for (const { elector } of [late, other]) elector.start();
    await world.clock.settle();
    late.elector.resign();
    await world.clock.advance(SPAN);
    expect(late.told.at(-1)).toBe("lost:overrun");
    const [session] = late.client.sessions;
    const sent = late.tap.names(session).length;
    late.clock.pause();
    await world.clock.advance((other.elector.term as Term).remaining());
    await late.clock.resume();
    expect(other.told.slice(0, 2)).toEqual(["elected", "lost:deadline"]);
    await world.clock.advanceUntil(() => other.elector.isLeader, 2 * TTL);
    expect(late.tap.names(session)).toHaveLength(sent);
    expect(late.elector.state).toBe("ending");
    work.open();
  });
});
