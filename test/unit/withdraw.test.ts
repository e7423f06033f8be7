import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import { swallow } from "./support/tapped-store.js";
import { watch } from "./support/watch.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

type Two = [Candidate, Candidate];
const ids = async (election?: string) => (await world.line(election)).map((id) => id.replace("*", "")).sort();

describe("withdraw", () => {
  it("is repeated until it succeeds, also after stop(), and nothing is closed before", async () => {
    for (const how of ["stop", "resign"] as const) {
      world = new World();
      const [a, b] = (await world.lineUp("a", "b")) as Two;
      let failures = 7;
      a.tap.around = (call, pass) =>
        call.name === "withdraw" && failures-- > 0 ? Promise.reject(new StoreError("connection-lost", "broke")) : pass();
      void a.elector[how]();
      await world.clock.advance(100);
      expect(b.elector.state).toBe("standby");
      await world.clock.advanceUntil(() => b.elector.isLeader, TTL);
      expect(a.tap.count("withdraw")).toBe(8);
      await world.clock.advance(3000);
      expect(a.told).toEqual([
        "elected",
        `draining:${how === "stop" ? "stopped" : "resigned"}`,
        `lost:${how === "stop" ? "stopped" : "resigned"}`,
        how === "stop" ? "stopped" : "standby",
      ]);
      expect(a.warnings).toEqual([]);
      await world.end();
    }
    world = new World();
  });

  it("of a waiter that stops, too", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Two;
    for (let i = 0; i < 3; i++) world.server.failNext("withdraw");
    const stopped = watch(b.elector.stop());
    await world.clock.advance(TTL);
    expect(stopped.outcome).toEqual({ value: undefined });
    expect(await world.line()).toEqual(["a*"]);
    expect(a.told).toEqual(["elected"]);
  });

  it("one that is never answered is given up and sent again", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Two;
    let swallowed = 2;
    a.tap.around = (call, pass) => (call.name === "withdraw" && swallowed-- > 0 ? swallow() : pass());
    const stopped = watch(a.elector.stop());
    await world.clock.advance(TTL);
    expect(stopped.outcome).toEqual({ value: undefined });
    expect(b.elector.isLeader).toBe(true);
  });

  it("is called for every contender: after gone, refused, a failed first look, a lost session", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    world.server.evict("a");
    await world.clock.advance(1000);
    expect(a.tap.count("withdraw")).toBe(1);
    const b = world.candidate("b", { election: "another" });
    world.server.failNext("look", new StoreError("auth", "not you"));
    b.elector.start();
    await world.clock.advance(1000);
    expect([b.elector.state, b.tap.count("withdraw")]).toEqual(["stopped", 1]);
  });

  it("that the store refuses for good ends with the session's close", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Two;
    a.tap.around = (call, pass) => (call.name === "withdraw" ? Promise.reject(new StoreError("auth", "not you")) : pass());
    const stopped = watch(a.elector.stop());
    await world.clock.settle();
    expect(stopped.outcome).toEqual({ value: undefined });
    expect(a.warnings).toHaveLength(1);
    expect(a.warnings[0]).toMatchObject({ code: "auth" });
    expect(await world.line()).toEqual(["b*"]);
    expect(b.elector.isLeader).toBe(true);
  });

  it("the same with other users of the session: they go on, and the last to leave closes it", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as Two;
    const other = world.candidate("other", { with: a, election: "another" });
    other.elector.start();
    await world.clock.settle();
    a.tap.around = (call, pass) =>
      call.name === "withdraw" && call.election === "seat" ? Promise.reject(new StoreError("auth", "not you")) : pass();
    const stopped = watch(a.elector.stop());
    await world.clock.advance(3 * TTL);
    expect(stopped.outcome).toBe(null);
    expect([a.elector.state, a.warnings.length]).toEqual(["leaving", 1]);
    expect(other.elector.isLeader).toBe(true);
    expect(await world.line()).toEqual(["a*", "b"]);
    await Promise.all([other.elector.stop(), world.clock.settle()]);
    await world.clock.settle();
    expect(stopped.outcome).toEqual({ value: undefined });
    expect(world.server.sessions).toBe(1);
    await world.clock.advance(100);
    expect(b.elector.isLeader).toBe(true);
  });

  it("refused for a while and then accepted: the session is not closed under the others, nor later", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const other = world.candidate("other", { with: a, election: "another" });
    other.elector.start();
    await world.clock.settle();
    let refused = "seat";
    a.tap.around = (call, pass) =>
      call.name === "withdraw" && call.election === refused ? Promise.reject(new StoreError("auth", "not you")) : pass();
    a.elector.resign();
    await world.clock.advance(TTL);
    refused = "none";
    await world.clock.advanceUntil(() => a.elector.isLeader, TTL);
    refused = "another";
    other.elector.resign();
    await world.clock.advance(TTL);
    expect(a.elector.isLeader).toBe(true);
    expect(a.tap.count("close")).toBe(0);
    refused = "none";
    await world.clock.advanceUntil(() => other.elector.isLeader, TTL);
    expect(await ids()).toEqual(["a"]);
    expect(await ids("another")).toEqual(["other"]);
  });

  it("refused for good to all users: an elector that comes meanwhile gets a session of its own", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const late = world.candidate("late", { with: a, election: "another" });
    a.tap.around = (call, pass) => (call.name === "withdraw" ? Promise.reject(new StoreError("auth", "not you")) : pass());
    a.client.delay(50);
    const stopped = watch(a.elector.stop());
    await world.clock.advanceUntil(() => a.tap.count("close") === 1, TTL);
    late.elector.start();
    await world.clock.advanceUntil(() => late.elector.isLeader, TTL);
    await world.clock.advance(TTL);
    expect(late.told).toEqual(["elected"]);
    expect(stopped.outcome).toEqual({ value: undefined });
    a.tap.around = (_, pass) => pass();
  });
});

describe("a lost reply", () => {
  const calls = ["open", "look", "claim", "withdraw", "moved", "unseated", "prepare", "prove", "touch", "close"] as const;
  const hows = ["connection-lost", "silence"] as const;
  // The store itself bounds an opening and sees to it that `moved` settles.
  const bounded = (call: string, how: string) => how === "connection-lost" || (call !== "open" && call !== "moved");
  const cases = calls.flatMap((call) => hows.filter((how) => bounded(call, how)).map((how) => [call, how] as const));

  it.each(cases)("to %s (%s): one entry each in the end, and nobody is stuck", async (call, how) => {
    for (let order = 0; order < 3; order++) {
      world = new World({ gap: 1100 });
      const all = ["a", "b", "c"].map((id) => world.candidate(id));
      if (order === 0) for (const { client } of all) client.loseReply(call, how);
      for (const { elector } of all) {
        elector.start();
        await world.clock.settle();
      }
      await world.clock.advance(3 * TTL);
      for (let round = 0; round < 4; round++) {
        if (order > 0) all[(order - 1 + round) % 3]?.client.loseReply(call, how);
        all.find(({ elector }) => elector.isLeader)?.elector.resign();
        await world.clock.advanceUntil(() => all.some(({ elector }) => elector.isLeader), 3 * TTL);
        await world.clock.advance(2 * TTL);
        expect(await ids()).toEqual(["a", "b", "c"]);
      }
      all[order % 3]?.client.loseReply(call, how);
      await world.end();
      expect(await world.line()).toEqual([]);
    }
    world = new World();
  });
});
