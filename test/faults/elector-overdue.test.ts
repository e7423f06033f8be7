import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { startProxy } from "../support/proxy.js";
import { until } from "../support/wait-for.js";
import { startZooKeeper } from "../support/zookeeper-server.js";
import { Belongings } from "./support/belongings.js";
import { Candidate } from "./support/candidate.js";
import { expiryOf } from "./support/expiries.js";
import { lineUp } from "./support/line.js";
import { now } from "./support/now.js";
import { viewOf } from "./support/queue-view.js";

const server = inject("zookeeper");
/** Milliseconds. */
const TIMEOUT = 4000;

/** Work that ends when it is told to (with the test at the latest), and not before; that of all later terms ends at once. */
function stubborn(owner: Belongings): { work: () => Promise<void>; end: () => void } {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  owner.use({ [Symbol.asyncDispose]: async () => end() });
  return { work: () => ended, end };
}

describe.concurrent("work that outlives", () => {
  it("its drain keeps the seat until it has settled", async () => {
    await using line = await lineUp(server, [], { sessionTimeout: TIMEOUT });
    const { work, end } = stubborn(line);
    const a = await line.join("a", { work, drain: 300 });
    const b = await line.join("b");
    const entry = await line.view.entryOf("a");
    const [from, waiting] = [a.told.length, b.told.length];
    a.elector.resign();
    const lost = await a.next("lost", from);
    expect(lost.reason).toBe("overrun");
    expect(a.elector.state).toBe("ending");
    // Two session timeouts later the server still has the entry and the term: the session goes on.
    await sleep(2 * TIMEOUT);
    expect(await line.view.entries()).toContain(entry);
    expect((await line.view.term())?.entry).toBe(entry);
    expect(b.story(waiting)).toEqual([]);
    const ended = now();
    end();
    const elected = await b.next("elected", waiting);
    expect(elected.at).toBeGreaterThan(ended);
    await a.next("standby", from);
  });

  it("its deadline keeps the seat until the store expires it: we send nothing more", async () => {
    await using own = await startZooKeeper({ tickTime: 500 });
    await using proxy = await startProxy(own.port);
    await using line = await lineUp(own.address, [], { sessionTimeout: TIMEOUT });
    const { work, end } = stubborn(line);
    const a = await line.join("a", { work, store: { ...line.store, servers: proxy.address } });
    const b = await line.join("b");
    const session = proxy.sessions()[0]!.id;
    const [from, waiting] = [a.told.length, b.told.length];
    proxy.blackhole();
    expect((await a.next("lost", from)).reason).toBe("overrun");
    // The link is back before the session has expired, and nobody uses it.
    proxy.heal();
    const before = proxy.requests();
    const elected = await b.next("elected", waiting);
    expect(proxy.requests()).toEqual(before);
    expect(proxy.connections).toBe(0);
    const expired = expiryOf([own], session);
    expect(expired).not.toBe(null);
    expect(elected.at).toBeGreaterThan(expired! - 1);
    expect(a.elector.state).toBe("ending");
    end();
    await a.next("standby", from);
    // A process that was paused meanwhile has not come to drain.
    expect(a.deeds(from).filter((what) => what !== "draining:yielded")).toEqual(["lost:overrun", "standby"]);
  });

  it("its deadline does not keep other elections of the process from a new session", async () => {
    await using proxy = await startProxy(Number(server.split(":")[1]));
    await using line = await lineUp(server, [], { sessionTimeout: TIMEOUT });
    await using own = new Belongings();
    const { work, end } = stubborn(own);
    const store = zookeeper({ ...line.store, servers: proxy.address });
    const busy = own.use(new Candidate({ store, election: "busy", id: "a", work })).start();
    const idle = own.use(new Candidate({ store, election: "idle", id: "a" })).start();
    await Promise.all([busy.next("elected", 0), idle.next("elected", 0)]);
    const [from, since] = [busy.told.length, idle.told.length];
    proxy.blackhole();
    await busy.next("lost", from);
    proxy.heal();
    // The entry of the old session stands in the way until that expires.
    await idle.next("elected", since);
    expect(busy.elector.state).toBe("ending");
    expect(busy.deeds(from).filter((what) => what !== "draining:yielded")).toEqual(["lost:overrun"]);
    end();
    await busy.next("elected", from);
  });

  it("its drain ends one term of a hundred on the session, and no other", async () => {
    await using line = await lineUp(server, [], { sessionTimeout: 10_000 });
    await using own = new Belongings();
    const { work, end } = stubborn(own);
    const store = zookeeper(line.store);
    const all = Array.from({ length: 100 }, (_, index) => {
      return own.use(new Candidate({ store, election: `seat-${index}`, id: "a", drain: 300, work: index === 50 ? work : "none" }));
    });
    for (const each of all) each.start();
    await until(() => all.every(({ isLeader }) => isLeader), { what: "a hundred seats are held" });
    const overdue = all[50]!;
    const others = all.filter((each) => each !== overdue);
    const [from, terms] = [overdue.told.length, others.map(({ elector }) => elector.term)];
    await using view = await viewOf(server, line.store.root!, "seat-50");
    overdue.elector.resign();
    expect((await overdue.next("lost", from)).reason).toBe("overrun");
    await sleep(3000);
    expect(others.map(({ elector }) => elector.term)).toEqual(terms);
    expect(others.flatMap((other) => other.deeds().slice(1))).toEqual([]);
    expect(await view.entries()).toHaveLength(1);
    end();
    await overdue.next("elected", from);
    expect(others.flatMap((other) => other.deeds().slice(1))).toEqual([]);
  });
});
