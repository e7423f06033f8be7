import { afterEach, describe, expect, it } from "vitest";
import { Deadline } from "../../src/deadline.js";
import type { LostError } from "../../src/errors.js";
import { ManualClock } from "../../src/manual-clock.js";
import type { Proof } from "../../src/store.js";
import type { Term } from "../../src/term.js";
import { type Candidate, gate, World } from "./support/world.js";

const TTL = 10_000;
const MARGIN = 250;
const INTERVAL = 2000;
const SPAN = TTL - MARGIN;

let world: World;
afterEach(() => world.end());

/** One leader; its proofs are sent at multiples of the interval. */
async function leader(options: { gap?: number; latency?: number } = {}): Promise<Candidate & { term: Term }> {
  world = new World({ ttl: TTL, ...options });
  const a = world.candidate("a");
  a.elector.start();
  await world.clock.advanceUntil(() => a.elector.isLeader, 5000);
  return { ...a, term: a.elector.term as Term };
}

describe("leading is a question to the clock", () => {
  it("isLeader is false at the first look after a pause beyond the deadline, before any event", async () => {
    const { elector, client, clock, term, told } = await leader();
    client.holdReplies();
    clock.pause();
    await world.clock.advance(SPAN - 1);
    expect(elector.isLeader).toBe(true);
    expect(term.remaining()).toBe(1);
    await world.clock.advance(1);
    expect(told).toEqual(["elected"]);
    expect(elector.isLeader).toBe(false);
    expect(elector.term).toBe(null);
    expect(term.valid).toBe(false);
    expect(term.remaining()).toBe(0);
    expect(() => term.assertValid()).toThrow(expect.objectContaining({ code: "lost", reason: "deadline" }));
    expect(term.signal.aborted).toBe(false);
    await clock.resume();
    expect(term.signal.aborted).toBe(true);
    expect((term.signal.reason as LostError).reason).toBe("deadline");
    expect(told.filter((event) => event.startsWith("lost"))).toEqual(["lost:deadline"]);
  });

  it("a proof answered after the deadline revives nothing, though its reply is handled before any timer", async () => {
    const { elector, client, clock, term, told } = await leader();
    await world.clock.advance(INTERVAL - 1);
    client.holdReplies();
    await world.clock.advance(10);
    clock.pause();
    await world.clock.advance(term.remaining() - 1);
    expect(term.valid).toBe(true);
    await world.clock.advance(1);
    client.release();
    await world.clock.settle();
    expect(elector.isLeader).toBe(false);
    expect(told).not.toContain("restored");
    expect(told.at(-1)).toBe("lost:deadline");
    await clock.resume();
    await world.clock.advance(100);
    expect(term.valid).toBe(false);
    expect(term.signal.aborted).toBe(true);
  });

  it("is false from the deadline on when no process is paused and replies are missing", async () => {
    const { elector, client, term } = await leader();
    const work = gate();
    term.waitUntil(work.promise);
    client.partition();
    await world.clock.advance(SPAN - 1);
    expect(elector.isLeader).toBe(true);
    await world.clock.advance(1);
    expect(elector.isLeader).toBe(false);
    expect(term.signal.aborted).toBe(true);
    client.heal();
    work.open();
  });
});

describe("a deadline counts from the sending of a proof", () => {
  it("never from its reply: replies take a second", async () => {
    const { client, clock, tap, term } = await leader();
    client.delay(500);
    const sent: number[] = [];
    const answered: number[] = [];
    tap.around = async (call, pass) => {
      if (call.name !== "prove") return pass();
      const at = clock.mono();
      sent.push(at);
      const reply = await pass();
      answered.push(at);
      return reply;
    };
    for (let step = 0; step < 100; step++) {
      await world.clock.advance(333);
      const newest = answered.at(-1);
      if (newest !== undefined) expect(term.remaining()).toBe(newest + SPAN - clock.mono());
    }
    expect(answered.length).toBeGreaterThan(10);
  });

  it("from what the proof vouches for, where that is earlier", async () => {
    const { clock, tap, term } = await leader();
    let vouched = 0;
    tap.around = async (call, pass) => {
      const reply = await pass();
      if (call.name !== "prove") return reply;
      vouched = clock.mono() - 1234;
      return { vouchedAt: { mono: vouched, wall: clock.wall() - 1234 } } as typeof reply & Proof;
    };
    await world.clock.advance(3 * INTERVAL);
    expect(term.remaining()).toBe(vouched + SPAN - clock.mono());
  });

  it("on a store with a gap: from the newest request answered a gap before", async () => {
    const gap = 2600;
    const { clock, term } = await leader({ gap });
    await world.clock.advance(4 * INTERVAL);
    const begun = clock.mono();
    // Of the requests, sent every interval, the newest that is old enough is the last but one.
    for (let step = 0; step < 40; step++) {
      expect(term.remaining()).toBe(SPAN - 2 * INTERVAL - ((clock.mono() - begun) % INTERVAL));
      await world.clock.advance(500);
    }
  });

  it("is the latest of all: an older proof that is answered later changes nothing, and a timeout extends nothing", async () => {
    const { client, clock, tap, term } = await leader();
    const late = gate();
    let held = 0;
    tap.around = async (call, pass) => {
      if (call.name !== "prove" || held++ > 0) return pass();
      const reply = await pass();
      await late.promise;
      return reply;
    };
    await world.clock.advance(2 * INTERVAL + 100);
    const remaining = term.remaining();
    expect(remaining).toBe(SPAN - 100);
    late.open();
    await world.clock.settle();
    expect(term.remaining()).toBe(remaining);
    client.partition();
    await world.clock.advance(5000);
    expect(term.remaining()).toBe(remaining - 5000);
    expect(clock.pending).toBeGreaterThan(0);
    client.heal();
  });
});

describe("elapsed time is the larger of two clocks", () => {
  it("a wall clock stepped forward counts as elapsed, at once", async () => {
    const { clock, client, term, elector } = await leader();
    client.holdReplies();
    const before = term.remaining();
    clock.stepWall(5000);
    expect(term.remaining()).toBe(before - 5000);
    expect(elector.isLeader).toBe(true);
    clock.stepWall(SPAN - 5000);
    expect(elector.isLeader).toBe(false);
  });

  it("a wall clock stepped back is ignored", async () => {
    const { clock, term, elector } = await leader();
    const before = term.remaining();
    clock.stepWall(-3_600_000);
    expect(term.remaining()).toBe(before);
    clock.pause();
    await world.clock.advance(before - 1);
    expect(elector.isLeader).toBe(true);
    await world.clock.advance(1);
    expect([elector.isLeader, term.remaining()]).toEqual([false, 0]);
  });

  it("proofs go on extending the deadline after a step back", async () => {
    const { clock, term } = await leader();
    clock.stepWall(-3_600_000);
    await world.clock.advance(20 * INTERVAL);
    expect(term.valid).toBe(true);
    expect(term.remaining()).toBeGreaterThan(SPAN - INTERVAL - 1);
  });

  it("a machine that slept is past its deadline when it wakes, though its monotonic clock stood still", async () => {
    const { clock, elector, term, told } = await leader();
    const mono = clock.mono();
    await clock.suspend(SPAN + 1);
    expect(clock.mono()).toBe(mono);
    expect(told).toEqual(["elected"]);
    expect(elector.isLeader).toBe(false);
    expect(term.valid).toBe(false);
    await world.clock.advance(INTERVAL);
    expect(told.filter((event) => event.startsWith("lost"))).toHaveLength(1);
    expect(term.signal.aborted).toBe(true);
  });

  it("a shorter sleep takes as much from what remains", async () => {
    const { clock, term, client } = await leader();
    client.holdReplies();
    const before = term.remaining();
    await clock.suspend(3000);
    expect(term.remaining()).toBe(before - 3000);
  });
});

describe("Deadline", () => {
  it("has passed as soon as either clock says so, and holds() and remaining() agree", () => {
    world = new World();
    const clock = new ManualClock();
    const deadline = new Deadline();
    expect(deadline.holds(clock)).toBe(false);
    deadline.extend({ mono: clock.mono(), wall: clock.wall() }, 100);
    expect([deadline.holds(clock), deadline.remaining(clock)]).toEqual([true, 100]);
    clock.stepWall(100);
    expect([deadline.holds(clock), deadline.remaining(clock)]).toEqual([false, 0]);
    clock.stepWall(-50);
    expect([deadline.holds(clock), deadline.remaining(clock)]).toEqual([true, 50]);
  });

  it("a frozen copy stands still", () => {
    world = new World();
    const clock = new ManualClock();
    const deadline = new Deadline();
    deadline.extend({ mono: clock.mono(), wall: clock.wall() }, 100);
    const frozen = deadline.frozen();
    deadline.extend({ mono: clock.mono(), wall: clock.wall() }, 500);
    expect([frozen.remaining(clock), deadline.remaining(clock)]).toEqual([100, 500]);
  });
});
