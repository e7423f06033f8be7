import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import type { Term } from "../../src/term.js";
import { type Candidate, gate, World } from "./support/world.js";

const TTL = 10_000;
const SPAN = TTL - 250;

let world: World;
afterEach(() => world.end());

/** Starts `candidate` and waits until it leads; the gate holds work of its term open. */
async function leading(candidate: Candidate) {
  candidate.elector.start();
  await world.clock.advanceUntil(() => candidate.elector.isLeader, 5000);
  const term = candidate.elector.term as Term;
  const work = gate();
  term.waitUntil(work.promise);
  return { term, work };
}

describe("a session past its deadline while work is running", () => {
  it("sends nothing more, so that only the store's own timeout gives the seat away", async () => {
    world = new World();
    const a = world.candidate("a");
    const { work } = await leading(a);
    const [b] = await world.lineUp("b");
    const session = a.client.sessions[0] as string;
    await world.clock.advance(500);
    a.client.holdReplies();
    await world.clock.advanceUntil(() => a.told.includes("lost:overrun"), SPAN);
    const sent = a.tap.names(session).length;
    expect(a.tap.abandoned.has(session)).toBe(true);
    const last = world.clock.mono();
    a.client.release();
    await world.clock.advance(5000);
    expect(a.tap.names(session)).toHaveLength(sent);
    expect(b?.elector.isLeader).toBe(false);
    expect(await world.line()).toEqual(["a*", "b"]);
    await world.clock.advanceUntil(() => b?.elector.isLeader === true, TTL);
    expect(world.clock.mono() - last).toBeGreaterThan(5000);
    expect(a.elector.state).toBe("ending");
    expect(a.tap.names(session)).toHaveLength(sent);
    work.open();
    await world.clock.advanceUntil(() => a.elector.state === "standby", 2000);
    expect(await world.line()).toEqual(["b*", "a"]);
  });

  it("sends nothing more after a pause, whichever timer fires first, and whoever asks", async () => {
    world = new World();
    const a = world.candidate("a");
    const other = world.candidate("other", { with: a, election: "another" });
    const { work } = await leading(a);
    const { work: otherWork } = await leading(other);
    const session = a.client.sessions[0] as string;
    const sent = a.tap.names(session).length;
    a.clock.pause();
    await world.clock.advance(SPAN + 1);
    // Before any timer: a promise chain of the process goes on.
    other.elector.resign();
    otherWork.open();
    await world.clock.settle();
    await a.clock.resume();
    await world.clock.advance(5000);
    expect(a.tap.names(session)).toHaveLength(sent);
    expect(a.told.at(-1)).toBe("lost:overrun");
    work.open();
  });

  it("a new session opens meanwhile for electors of the same store value with nothing running", async () => {
    world = new World();
    const a = world.candidate("a");
    const { work } = await leading(a);
    const waiter = world.candidate("waiter", { with: a, election: "another" });
    const boss = world.candidate("boss", { election: "another" });
    const idle = world.candidate("idle", { with: a, election: "third" });
    for (const { elector } of [boss, waiter, idle]) {
      elector.start();
      await world.clock.settle();
    }
    expect([waiter.elector.state, idle.elector.isLeader]).toEqual(["standby", true]);
    const [first] = a.client.sessions;
    a.client.holdReplies();
    await world.clock.advanceUntil(() => a.told.includes("lost:overrun"), SPAN);
    a.client.release();
    await world.clock.advanceUntil(() => waiter.elector.state === "standby" && idle.elector.isLeader, 2000);
    expect(a.elector.state).toBe("ending");
    expect(a.client.sessions).toHaveLength(1);
    expect(a.client.sessions[0]).not.toBe(first);
    expect(a.tap.count("open")).toBe(2);
    expect(await world.line("another")).toEqual(["boss*", "waiter"]);
    expect(await world.line()).toEqual(["a*"]);
    work.open();
    await world.clock.advanceUntil(() => a.elector.isLeader, 2000);
    expect(await world.line()).toEqual(["a*"]);
    expect(a.tap.count("open")).toBe(2);
  });
});

describe("a session past its deadline without running work", () => {
  it("withdraws as usual, is closed, and the electors stand again on a new one", async () => {
    world = new World();
    const a = world.candidate("a");
    const other = world.candidate("other", { with: a, election: "another" });
    a.elector.start();
    other.elector.start();
    await world.clock.settle();
    const [b] = await world.lineUp("b");
    const session = a.client.sessions[0] as string;
    const before = a.tap.names(session).length;
    a.clock.pause();
    await world.clock.advance(SPAN + 1);
    await a.clock.resume();
    expect(b?.elector.isLeader).toBe(true);
    await world.clock.advanceUntil(() => a.elector.state === "standby" && other.elector.isLeader, 5000);
    expect(a.tap.names(session).slice(before).sort()).toEqual(["close", "withdraw", "withdraw"]);
    expect(a.told).toEqual(["elected", "lost:deadline", "standby"]);
    expect(await world.line()).toEqual(["b*", "a"]);
    expect(await world.line("another")).toEqual(["other*"]);
  });
});

describe("a session without a reply for its ttl is over", () => {
  it("for waiters too, who rejoin on a new one: one entry each", async () => {
    world = new World();
    const [a, b, c] = (await world.lineUp("a", "b", "c")) as [Candidate, Candidate, Candidate];
    const session = b.client.sessions[0];
    await world.clock.advance(300);
    b.client.partition();
    await world.clock.advance(TTL - 1000);
    expect(b.elector.state).toBe("standby");
    await world.clock.advance(1000);
    expect(b.elector.state).toBe("connecting");
    await world.clock.advance(5000);
    expect(await world.line()).toEqual(["a*", "c"]);
    b.client.heal();
    await world.clock.advanceUntil(() => b.elector.state === "standby", TTL);
    expect(b.client.sessions).not.toContain(session);
    expect(await world.line()).toEqual(["a*", "c", "b"]);
    expect([a.told, c.told]).toEqual([["elected"], ["standby"]]);
  });

  it("also when the store did not end it: the old entries are replaced, not doubled", async () => {
    world = new World();
    const [a, b, c] = (await world.lineUp("a", "b", "c")) as [Candidate, Candidate, Candidate];
    await world.clock.advance(300);
    world.server.stop();
    await world.clock.advance(TTL);
    expect([a, b, c].map(({ elector }) => elector.state)).toEqual(["connecting", "connecting", "connecting"]);
    world.server.start();
    const back = () => [a, b, c].every(({ elector }) => elector.isLeader || elector.state === "standby");
    await world.clock.advanceUntil(() => back() && [a, b, c].some(({ elector }) => elector.isLeader), TTL);
    expect((await world.line()).map((id) => id.replace("*", "")).sort()).toEqual(["a", "b", "c"]);
    await world.clock.advance(2 * TTL);
    expect((await world.line()).map((id) => id.replace("*", "")).sort()).toEqual(["a", "b", "c"]);
  });

  it("while a leader with running work: nothing it sent keeps the seat, and it stands again once", async () => {
    world = new World();
    const a = world.candidate("a");
    const { work } = await leading(a);
    const [b] = await world.lineUp("b");
    a.client.partition();
    await world.clock.advanceUntil(() => b?.elector.isLeader === true, 2 * TTL);
    expect(a.told.at(-1)).toBe("lost:overrun");
    a.client.heal();
    work.open();
    await world.clock.advanceUntil(() => a.elector.state === "standby", 5000);
    expect(await world.line()).toEqual(["b*", "a"]);
  });
});

describe("when a session dies", () => {
  it("all its terms have changed state before any listener runs", async () => {
    world = new World();
    const first = world.candidate("c0", { election: "e0" });
    const all = [first, ...Array.from({ length: 9 }, (_, i) => world.candidate(`c${i + 1}`, { with: first, election: `e${i + 1}` }))];
    for (const { elector } of all) elector.start();
    await world.clock.settle();
    const terms = all.map(({ elector }) => elector.term as Term);
    const seen: string[] = [];
    let heard = 0;
    const look = (where: string) => {
      heard++;
      for (const { elector } of all) if (elector.isLeader) seen.push(`${where}: ${elector.id} says isLeader`);
      for (const term of terms) if (term.valid) seen.push(`${where}: ${term.election} is valid`);
      for (const { elector } of all)
        if (["leading", "suspect", "draining"].includes(elector.state)) seen.push(`${where}: ${elector.state}`);
    };
    for (const { elector } of all) elector.on("lost", () => look("lost"));
    for (const term of terms) {
      term.signal.addEventListener("abort", () => look("signal"));
      term.draining.addEventListener("abort", () => look("draining"));
    }
    world.server.expire(first.client.sessions[0] as string);
    await world.clock.settle();
    expect(seen).toEqual([]);
    expect(heard).toBe(30);
    expect(all.map(({ told }) => told.at(-1))).toEqual(all.map(() => "lost:session-ended"));
  });
});

describe("a session whose end a call tells first", () => {
  it("takes the term with it, and the candidate stands again", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const said = new StoreError("session-ended", "said by a call");
    let once = true;
    b.tap.around = async (call, pass) => {
      if (call.name !== "unseated" || !once) return pass();
      once = false;
      world.clock.after(50, () => world.server.expire(call.session));
      throw said;
    };
    a.elector.resign();
    await world.clock.advanceUntil(() => b.told.includes("lost:session-ended"), TTL);
    await world.clock.advanceUntil(() => b.elector.state === "standby", TTL);
    expect(b.told).toEqual(["standby", "elected", "lost:session-ended", "standby"]);
    expect(await world.line()).toEqual(["a*", "b"]);
  });
});

describe("a session that is over", () => {
  it("is asked nothing more, also of what waited for its turn", async () => {
    world = new World();
    const host = world.candidate("a", { election: "e0" });
    const all = [host, ...Array.from({ length: 299 }, (_, n) => world.candidate("a", { with: host, election: `e${n + 1}` }))];
    for (const { elector } of all) elector.start();
    await world.clock.advanceUntil(() => all.every(({ elector }) => elector.isLeader), TTL);
    const [session] = host.client.sessions as [string];
    // All look whether they still have their seats, more at once than have their turn.
    host.tap.around = (call, pass) => (call.name === "look" ? new Promise(() => {}) : pass());
    host.client.reset();
    const looks = () => host.tap.calls.filter(({ name }) => name === "look").length;
    const before = looks();
    await world.clock.advanceUntil(() => looks() > before, TTL);
    const asked = looks();
    expect(asked - before).toBeLessThan(all.length);
    world.server.expire(session);
    await world.clock.advanceUntil(() => host.tap.abandoned.has(session), TTL);
    expect(host.tap.calls.filter(({ name, session: of }) => name === "look" && of === session).length).toBe(asked);
    host.tap.around = (_, pass) => pass();
  });
});
