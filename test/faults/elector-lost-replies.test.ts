import { describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { type FaultProxy, startProxy } from "../support/proxy.js";
import { until } from "../support/wait-for.js";
import { Candidate } from "./support/candidate.js";
import { type Line, lineUp } from "./support/line.js";

const server = inject("zookeeper");
const port = Number(server.split(":")[1]);
/** Milliseconds. A reply that does not come is waited for half of that at most. */
const TIMEOUT = 10_000;

describe.concurrent.each([
  ["and the connection breaks", true],
  ["and the connection stays", false],
])("when a reply is lost (%s)", (_, thenCut) => {
  it("to a create, there is one entry", async () => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, ["leader"], { sessionTimeout: TIMEOUT });
    const dropped = proxy.dropReply({ opcode: "create", thenCut });
    const candidate = join(line, proxy, "candidate");
    await dropped;
    await candidate.next("standby", 0);
    expect(await line.view.entries()).toHaveLength(2);
    const from = candidate.told.length;
    await line.all[0]!.stop();
    await candidate.next("elected", from);
    expect(await line.view.entries()).toEqual([await line.view.entryOf("candidate")]);
  });

  // The first transactions of a candidate that finds the seat free are a proof and its claim, in either order of loss.
  it.each([1, 2, 3])("to transaction %i of a candidate that finds the seat free, a look settles what came of it", async (nth) => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, ["before"], { sessionTimeout: TIMEOUT });
    const number = line.all[0]!.elector.term!.number;
    await line.all[0]!.stop();
    const dropped = proxy.dropReply({ opcode: "multi", nth, thenCut });
    const candidate = join(line, proxy, "candidate");
    const { term } = await candidate.next("elected", 0);
    await dropped;
    await until(() => candidate.elector.state === "leading", { what: "all is well again" });
    expect(term!.number).toBe(number + 1);
    const stored = await line.view.term();
    expect(stored).toMatchObject({ entry: await line.view.entryOf("candidate") });
    expect(stored!.stat).toMatchObject({ version: number + 1, mzxid: term!.fence });
    expect(await line.view.entries()).toHaveLength(1);
    expect(candidate.count("lost")).toBe(0);
  });

  it.each(["dropRequest", "dropReply"] as const)("to a withdrawal (%s), nothing is left even though the session lives on", async (drop) => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, ["leader"], { sessionTimeout: TIMEOUT });
    const store = zookeeper({ ...line.store, servers: proxy.address });
    const other = line.use(new Candidate({ store, election: "other", id: "candidate" })).start();
    const candidate = line.use(new Candidate({ store, id: "candidate" })).start();
    await candidate.next("standby", 0);
    await other.next("elected", 0);
    const dropped = proxy[drop]({ opcode: "delete", thenCut });
    await candidate.stop();
    await dropped;
    expect(await line.view.entries()).toEqual([await line.view.entryOf("leader")]);
    expect(other.isLeader).toBe(true);
    expect(other.count("lost")).toBe(0);
  });

  it("to a hand-over, a look settles what came of it", async () => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, [], { sessionTimeout: TIMEOUT });
    const leader = join(line, proxy, "leader");
    const { term } = await leader.next("elected", 0);
    const waiter = line.use(new Candidate({ store: line.store, id: "waiter" })).start();
    await waiter.next("standby", 0);
    // Just after a proof the next transaction is the hand-over. The second one: until then the leader has heard who is next, and does not
    // leave by a plain delete.
    await proxy.onRequest("multi", 2);
    const dropped = proxy.dropReply({ opcode: "multi", thenCut });
    const [from, back] = [waiter.told.length, leader.told.length];
    leader.elector.resign();
    await dropped;
    const next = await waiter.next("elected", from);
    expect(next.term!.number).toBe(term!.number + 1);
    await leader.next("standby", back);
    expect(leader.story(back)).toEqual(["draining:resigned", "lost:resigned", "standby"]);
    expect(await line.view.entries()).toEqual([await line.view.entryOf("waiter"), await line.view.entryOf("leader")]);
    expect((await line.view.term())!.stat.version).toBe(term!.number + 1);
    expect(waiter.count("lost")).toBe(0);
  });
});

function join(line: Line, proxy: FaultProxy, id: string): Candidate {
  return line.use(new Candidate({ store: { ...line.store, servers: proxy.address }, id })).start();
}
