import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { startProxy } from "../support/proxy.js";
import { PATIENCE } from "../support/wait-for.js";
import { startEnsemble } from "../support/zookeeper-ensemble.js";
import { startZooKeeper } from "../support/zookeeper-server.js";
import type { Candidate } from "./support/candidate.js";
import { INTERVAL, type Line, lineUp, TIMEOUT } from "./support/line.js";
import { viewOf } from "./support/queue-view.js";

const server = inject("zookeeper");
const port = Number(server.split(":")[1]);

/** A leader and a waiter, both through a proxy of their own link; nobody may notice more than a suspicion. */
async function bothThrough(address: string, line: Line): Promise<[Candidate, Candidate]> {
  const store = { ...line.store, servers: address };
  return [await line.join("a", { store }), await line.join("b", { store })];
}

/** Watches work on both sides: who is evicted notices, and so does who is next. */
async function stillWatch(line: Line, leader: Candidate, waiter: Candidate): Promise<void> {
  const [from, waiting] = [leader.told.length, waiter.told.length];
  await line.view.raw.delete(line.view.entryPath(await line.view.entryOf(leader.elector.id)));
  expect((await leader.next("lost", from)).reason).toBe("evicted");
  await waiter.next("elected", waiting);
}

describe.concurrent("a term goes on", () => {
  it("over a link that breaks ten times a second, and watches survive it", async () => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, []);
    const [a, b] = await bothThrough(proxy.address, line);
    const { term } = a.elector;
    const [from, waiting] = [a.told.length, b.told.length];
    for (const end = performance.now() + TIMEOUT / 2; performance.now() < end; ) {
      proxy.cut();
      await sleep(100);
    }
    expect(a.elector.term).toBe(term);
    expect([a.deeds(from), b.deeds(waiting)]).toEqual([[], []]);
    expect(await line.view.entries()).toHaveLength(2);
    await stillWatch(line, a, b);
  });

  it("over a slow link", async () => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, []);
    proxy.delay(TIMEOUT / 100);
    const [a, b] = await bothThrough(proxy.address, line);
    const { term } = a.elector;
    const [from, waiting] = [a.told.length, b.told.length];
    await sleep(2 * INTERVAL);
    expect(a.elector.term).toBe(term);
    expect([a.deeds(from), b.deeds(waiting)]).toEqual([[], []]);
    await stillWatch(line, a, b);
  });

  it("over a server that is frozen for a while", async () => {
    await using own = await startZooKeeper({ tickTime: 500 });
    await using line = await lineUp(own.address, ["a", "b"]);
    const [a, b] = line.all as [Candidate, Candidate];
    const { term } = a.elector;
    const [from, waiting] = [a.told.length, b.told.length];
    own.pause();
    await a.next("suspect", from);
    own.resume();
    await a.next("restored", from);
    expect(a.elector.term).toBe(term);
    expect([a.deeds(from), b.deeds(waiting)]).toEqual([[], []]);
    await stillWatch(line, a, b);
  });

  it("over an ensemble whose servers are restarted one after the other, the leading one last", async () => {
    const sessionTimeout = 2 * PATIENCE;
    await using ensemble = await startEnsemble({ tickTime: 500, config: { maxSessionTimeout: sessionTimeout } });
    await using line = await lineUp(ensemble.address, ["a", "b"], { sessionTimeout });
    const [a, b] = line.all as [Candidate, Candidate];
    const { term } = a.elector;
    const [from, waiting] = [a.told.length, b.told.length];
    const leading = await ensemble.leader();
    for (const one of [...ensemble.servers.filter((each) => each !== leading), leading]) {
      await one.stop();
      await one.start();
    }
    expect(a.elector.term).toBe(term);
    expect([a.deeds(from), b.deeds(waiting)]).toEqual([[], []]);
    await using view = await viewOf(ensemble.address, line.store.root!);
    expect(await view.entries()).toHaveLength(2);
  });
});

describe.concurrent("a term ends before its successor's begins", () => {
  it.each(["up", "down"] as const)("on a link that passes nothing %s", async (direction) => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, [], { sessionTimeout: 4000 });
    const a = await line.join("a", { store: { ...line.store, servers: proxy.address }, work: "until-over" });
    let whenElected: boolean | undefined;
    const b = await line.join("b", { onElected: () => (whenElected = a.isLeader) });
    const waiting = b.told.length;
    proxy.blackhole(direction);
    await b.next("elected", waiting);
    expect(whenElected).toBe(false);
    expect(a.count("lost")).toBe(1);
  });
});
