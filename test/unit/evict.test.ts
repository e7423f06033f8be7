import { afterEach, describe, expect, it } from "vitest";
import { type EvictOptions as CommandOptions, evict as tenureEvict } from "../../src/cli/evict.js";
import { StoreError } from "../../src/errors.js";
import { type EvictOptions, evict } from "../../src/evict.js";
import type { Standing } from "../../src/store.js";
import { TappedStore } from "./support/tapped-store.js";
import { watch } from "./support/watch.js";
import { type Candidate, gate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

const find = async (id: string): Promise<Standing> => (await world.queue()).find((standing) => standing.id === id) as Standing;

/** By an operator, in a process of its own. */
function operator() {
  const client = world.server.client("operator");
  const clock = world.clock.process();
  const tap = new TappedStore(client);
  const begin = (standing: Standing, options: EvictOptions = {}) => watch(evict(tap, "seat", standing, { clock, ...options }));
  return { client, clock, tap, begin };
}

describe("evict", () => {
  it("of a waiter: it stands again at the tail, and nobody else notices", async () => {
    world = new World();
    const [a, b, c] = (await world.lineUp("a", "b", "c")) as [Candidate, Candidate, Candidate];
    const evicted = operator().begin(await find("b"));
    await world.clock.settle();
    expect(evicted.outcome).toEqual({ value: "settled" });
    await world.clock.advance(3000);
    expect(await world.line()).toEqual(["a*", "c", "b"]);
    expect([a.told, b.told, c.told]).toEqual([["elected"], ["standby", "standby"], ["standby"]]);
  });

  it("of a leader: the seat is kept free until its work has ended and it stands again, then the next one leads", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const work = gate();
    a.elector.term?.waitUntil(work.promise);
    const o = operator();
    const evicted = o.begin(await find("a"));
    await world.clock.advance(TTL - 1000);
    expect(a.told).toEqual(["elected", "lost:evicted"]);
    expect(a.elector.state).toBe("ending");
    expect([b.elector.isLeader, evicted.outcome]).toEqual([false, null]);
    expect(await world.line()).toEqual(["tenure evict", "b"]);
    work.open();
    await world.clock.advanceUntil(() => b.elector.isLeader, 1000);
    expect(evicted.outcome).toEqual({ value: "settled" });
    expect(await world.line()).toEqual(["b*", "a"]);
    expect([o.clock.pending, world.server.sessions]).toEqual([0, 2]);
  });

  it("of a leader that is paused: nobody leads before its deadline has passed, and it wakes to a no", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    await a.clock.pause();
    const evicted = operator().begin(await find("a"));
    await world.clock.advance(TTL - 1);
    expect([b.elector.isLeader, a.elector.isLeader]).toEqual([false, false]);
    await world.clock.advance(501);
    expect([evicted.outcome, b.elector.isLeader]).toEqual([{ value: "settled" }, true]);
  });

  it("takes no other candidate for the evicted one that stands again: neither its neighbour on the session, nor a namesake", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const neighbour = world.candidate("a", { with: a });
    neighbour.elector.start();
    await world.clock.settle();
    const standing = (await world.queue())[0] as Standing;
    await a.clock.pause();
    const evicted = operator().begin(standing);
    await world.clock.advance(1000);
    const namesake = world.candidate("a");
    namesake.elector.start();
    await world.clock.advance(1000);
    expect([evicted.outcome, namesake.elector.state]).toEqual([null, "standby"]);
    await world.clock.advance(TTL);
    expect(evicted.outcome).toEqual({ value: "settled" });
  });

  it("removes the stead also from a session that others go on to use", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const host = world.candidate("host", { election: "another" });
    host.elector.start();
    await world.clock.settle();
    const evicted = watch(evict(host.tap, "seat", await find("a"), { clock: host.clock }));
    await world.clock.advanceUntil(() => evicted.outcome !== null, TTL);
    await world.clock.settle();
    expect([evicted.outcome, host.elector.isLeader, b.elector.isLeader]).toEqual([{ value: "settled" }, true, true]);
    expect(await world.line()).toEqual(["b*", "a"]);
    expect(a.told).toEqual(["elected", "lost:evicted", "standby"]);
  });

  it("of a leader that is cut off: no two terms are valid at once", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    a.client.partition();
    const evicted = operator().begin(await find("a"));
    let both = false;
    let alone = false;
    await world.clock.advanceUntil(() => {
      both ||= a.elector.isLeader && b.elector.isLeader;
      alone ||= a.elector.isLeader && evicted.outcome === null;
      return b.elector.isLeader;
    }, 2 * TTL);
    expect([both, alone, evicted.outcome]).toEqual([false, true, { value: "settled" }]);
    a.client.heal();
  });

  it("with hold 0 the next one leads at once, while the one that is cut off believes", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    a.client.partition();
    const evicted = operator().begin(await find("a"), { hold: 0 });
    await world.clock.settle();
    expect([evicted.outcome, a.elector.isLeader, b.elector.isLeader]).toEqual([{ value: "open" }, true, true]);
    expect(b.elector.term!.fence).toBeGreaterThan(a.elector.term!.fence);
    a.client.heal();
  });

  it("refuses one that has gone, and a waiter that has become leader meanwhile", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const [wasLeader, waited] = [await find("a"), await find("b")];
    a.elector.resign();
    await world.clock.advance(500);
    const refused = [wasLeader, waited].map((standing) => operator().begin(standing));
    await world.clock.settle();
    expect(refused.map(({ outcome }) => outcome)).toEqual([{ value: "refused" }, { value: "refused" }]);
    expect([b.elector.isLeader, await world.line()]).toEqual([true, ["b*", "a"]]);
  });

  it("finds its own stead when the reply was lost, and removes it in the end", async () => {
    world = new World();
    await world.lineUp("a", "b");
    const o = operator();
    o.client.loseReply("evict");
    const evicted = o.begin(await find("a"));
    await world.clock.advance(TTL);
    expect(evicted.outcome).toEqual({ value: "settled" });
    expect(await world.line()).toEqual(["b*", "a"]);
  });

  it("says `open` when the stead was removed by somebody else, or went with its session", async () => {
    for (const how of ["removed", "expired"]) {
      world = new World();
      const [a] = (await world.lineUp("a", "b")) as [Candidate];
      await a.clock.pause();
      const o = operator();
      const evicted = o.begin(await find("a"));
      await world.clock.settle();
      if (how === "removed") world.server.evict("tenure evict");
      else for (const session of o.client.sessions) world.server.expire(session);
      await world.clock.advance(1000);
      expect(evicted.outcome).toEqual({ value: "open" });
      await world.end();
    }
  });

  it("an abort ends the hold", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    await a.clock.pause();
    const abort = new AbortController();
    const evicted = operator().begin(await find("a"), { signal: abort.signal });
    await world.clock.advance(1000);
    const reason = new Error("enough");
    abort.abort(reason);
    await world.clock.settle();
    expect([evicted.outcome, b.elector.isLeader]).toEqual([{ error: reason }, true]);
  });

  it("bad arguments are refused before anything is sent", async () => {
    world = new World();
    const { tap } = operator();
    await expect(evict(tap, "a/b", {} as never)).rejects.toMatchObject({ option: "election" });
    await expect(evict(tap, "seat", null as never)).rejects.toThrow(TypeError);
    await expect(evict(tap, "seat", { entry: "x", leading: true } as never, { hold: "5" as never })).rejects.toMatchObject({
      option: "hold",
    });
    expect(tap.calls).toEqual([]);
  });
});

describe("tenure evict", () => {
  function command(options: Partial<CommandOptions>) {
    const { client, clock } = operator();
    const warned: string[] = [];
    const warn = (line: string) => void warned.push(line);
    const given = { store: client, election: "seat", whom: "leader", hold: null, json: true, timeout: 5000, clock, warn } as const;
    const ended = watch(tenureEvict({ ask: async () => true, ...given, ...options }));
    return { warned, ended, client };
  }

  it("names the one that was evicted, and the next leader", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const [before, { number, fence }] = [await find("a"), a.elector.term!];
    const [json, plain] = [command({}), command({ whom: { id: "nobody" } })];
    await world.clock.advanceUntil(() => json.ended.outcome !== null, TTL);
    const { text, code } = (json.ended.outcome as { value: { text: string; code: number } }).value;
    const term = b.elector.term!;
    expect(code).toBe(0);
    expect(JSON.parse(text)).toEqual({
      election: "seat",
      evicted: { ...before, metadata: {} },
      settled: true,
      leader: { id: "b", number: term.number, fence: term.token, since: term.since.toISOString(), metadata: {} },
    });
    expect(term.fence).toBeGreaterThan(fence);
    expect(plain.ended.outcome).toEqual({ value: { text: "", code: 1 } });
    expect(plain.warned).toEqual(['there is no candidate called "nobody"; there are: a (leads), b; nothing was done']);
    expect(number).toBe(1);
  });

  it("asks before it evicts a leader, and does nothing without a yes", async () => {
    world = new World();
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    const asked: string[] = [];
    const ask = (answer: boolean | null) => async (question: string) => {
      asked.push(question);
      return answer;
    };
    const [no, nobody, waiter] = [
      command({ ask: ask(false) }),
      command({ ask: ask(null) }),
      command({ ask: ask(false), whom: { id: "b" } }),
    ];
    await world.clock.settle();
    expect(no.ended.outcome).toEqual({ value: { text: "", code: 1 } });
    expect(nobody.ended.outcome).toMatchObject({ error: { code: "config", option: "--yes" } });
    expect(waiter.ended.outcome).toMatchObject({ value: { code: 0 } });
    expect(asked).toEqual(Array(2).fill("a leads seat. End its term by force?"));
    expect([a.elector.isLeader, a.told]).toEqual([true, ["elected"]]);
  });

  it("lists the entries of candidates of the same name, and takes one of them", async () => {
    world = new World();
    await world.lineUp("a", "twin", "twin");
    const several = command({ whom: { id: "twin" } });
    await world.clock.settle();
    const [, first, second] = (await world.queue()).map(({ entry }) => entry);
    expect(several.ended.outcome).toEqual({ value: { text: "", code: 1 } });
    expect(several.warned).toEqual([`2 candidates are called "twin": name one with --entry: ${first}, ${second}; nothing was done`]);
    const one = command({ whom: { entry: first as string } });
    await world.clock.settle();
    expect(one.ended.outcome).toMatchObject({ value: { code: 0 } });
    expect((await world.queue()).map(({ entry }) => entry)).not.toContain(first);
  });

  it("says that nobody leads, before and after", async () => {
    world = new World();
    const nobody = command({});
    await world.clock.settle();
    expect([nobody.ended.outcome, nobody.warned]).toEqual([
      { value: { text: "", code: 1 } },
      ["nobody leads; nobody stands; nothing was done"],
    ]);
    const [a] = (await world.lineUp("a")) as [Candidate];
    a.client.partition();
    const last = command({});
    await world.clock.advanceUntil(() => last.ended.outcome !== null, 3 * TTL);
    expect(last.ended.outcome).toMatchObject({ value: { code: 75 } });
    expect(last.warned.at(-1)).toMatch(/nobody leads after 5 s/);
    a.client.heal();
  });

  it("rejects with what the store says", async () => {
    world = new World();
    await world.lineUp("a", "b");
    const refused = command({ whom: { id: "b" } });
    refused.client.failNext("evict", new StoreError("auth", "lacks the permission DELETE"));
    await world.clock.settle();
    expect(refused.ended.outcome).toMatchObject({ error: { code: "auth" } });
    expect(await world.line()).toEqual(["a*", "b"]);
  });
});
