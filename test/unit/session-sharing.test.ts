import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

describe("reopening after a session's death", () => {
  it("is done once for all its electors, and they rejoin together", async () => {
    world = new World();
    const first = world.candidate("c0", { election: "e0" });
    const all = [first, ...Array.from({ length: 49 }, (_, i) => world.candidate(`c${i + 1}`, { with: first, election: `e${i + 1}` }))];
    for (const { elector } of all) elector.start();
    await world.clock.settle();
    expect(first.tap.count("open")).toBe(1);
    for (let death = 1; death <= 3; death++) {
      world.server.expire(first.client.sessions[0] as string);
      await world.clock.advanceUntil(() => all.every(({ elector }) => elector.isLeader), 5000);
      expect(first.tap.count("open")).toBe(1 + death);
      expect(world.server.sessions).toBe(1);
    }
  });

  it("tries to reopen with a backoff that grows to 3 s, once for all, and tells each elector of it", async () => {
    world = new World();
    const first = world.candidate("c0", { election: "e0" });
    const all = [first, ...Array.from({ length: 9 }, (_, i) => world.candidate(`c${i + 1}`, { with: first, election: `e${i + 1}` }))];
    for (const { elector } of all) elector.start();
    await world.clock.settle();
    world.server.stop();
    await world.clock.advanceUntil(() => all.every(({ elector }) => elector.state === "connecting"), 2 * TTL);
    const opens = first.tap.count("open");
    await world.clock.advance(60_000);
    const tries = first.tap.count("open") - opens;
    expect(tries).toBeGreaterThan(60_000 / 3000 - 1);
    expect(tries).toBeLessThan(100);
    for (const { warnings } of all) {
      expect(warnings.length).toBeGreaterThan(tries - 2);
      expect(warnings[0]).toBeInstanceOf(StoreError);
    }
    world.server.start();
    await world.clock.advanceUntil(() => all.every(({ elector }) => elector.isLeader), 5000);
  });

  it("one that has ended while it was being opened is opened again, not a reason to stop", async () => {
    world = new World();
    const a = world.candidate("a");
    let opened = 0;
    a.tap.around = async (call, pass) => {
      const result = await pass();
      if (call.name === "open" && opened++ === 0) {
        world.server.expire(a.client.sessions[0] as string);
        for (let turn = 0; turn < 20; turn++) await null;
      }
      return result;
    };
    a.elector.start();
    await world.clock.advanceUntil(() => a.elector.isLeader || a.elector.state === "stopped", 5000);
    expect(a.elector.isLeader).toBe(true);
  });

  it("the store says session-ended to the opening: tried again", async () => {
    world = new World();
    const a = world.candidate("a");
    world.server.failNext("open", new StoreError("session-ended", "expired during the handshake"));
    a.elector.start();
    await world.clock.advanceUntil(() => a.elector.isLeader || a.elector.state === "stopped", 5000);
    expect(a.elector.isLeader).toBe(true);
  });
});

describe("the session of one store value", () => {
  it("is opened by the first and closed after the last; opening after that does not wait", async () => {
    world = new World();
    const a = world.candidate("a", { election: "one" });
    const b = world.candidate("b", { with: a, election: "two" });
    a.elector.start();
    await world.clock.settle();
    b.elector.start();
    await world.clock.settle();
    expect([world.server.sessions, a.tap.count("open")]).toEqual([1, 1]);
    await a.elector.stop();
    expect([world.server.sessions, b.elector.isLeader]).toEqual([1, true]);
    await b.elector.stop();
    expect([world.server.sessions, a.tap.count("close")]).toEqual([0, 1]);
    for (let again = 0; again < 5; again++) {
      a.told.push("started");
      a.elector.start();
      await world.clock.settle();
      expect(a.elector.isLeader).toBe(true);
      await a.elector.stop();
    }
    expect(world.server.sessions).toBe(0);
  });

  it("leader() of an elector that does not stand opens one, closes it, and does not wait the next time", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const b = world.candidate("b");
    for (let again = 0; again < 5; again++) {
      let leader: unknown;
      void b.elector.leader().then((found) => {
        leader = found;
      });
      await world.clock.settle();
      expect(leader).toMatchObject({ id: "a", fence: a.elector.term?.fence });
      expect(world.server.sessions).toBe(1);
    }
  });
});
