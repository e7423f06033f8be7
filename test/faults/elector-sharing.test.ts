import { describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { inspect, observe } from "../../src/index.js";
import { startProxy } from "../support/proxy.js";
import { until } from "../support/wait-for.js";
import { prepareZooKeeper } from "../support/zookeeper-server.js";
import { Belongings } from "./support/belongings.js";
import { Candidate } from "./support/candidate.js";
import { lineUp } from "./support/line.js";

const server = inject("zookeeper");
const port = Number(server.split(":")[1]);

describe.concurrent("on one session", () => {
  it("two candidates of one election take turns, and each is evicted alone", async () => {
    await using line = await lineUp(server, []);
    const store = zookeeper(line.store);
    const [a, b] = [await line.join("a", { store }), await line.join("b", { store })];
    const [from, waiting] = [a.told.length, b.told.length];
    a.elector.resign();
    await b.next("elected", waiting);
    await a.next("standby", from);
    const [then, leading] = [a.told.length, b.told.length];
    await line.view.raw.delete(line.view.entryPath(await line.view.entryOf("b")));
    expect((await b.next("lost", leading)).reason).toBe("evicted");
    await a.next("elected", then);
    expect(await line.settled()).toBe(a);
  });

  it("twenty leaders stop to lead together when it dies, and stand again together on one new session", async () => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, [], { sessionTimeout: 4000 });
    await using own = new Belongings();
    const store = zookeeper({ ...line.store, servers: proxy.address });
    const told: string[] = [];
    const all = Array.from({ length: 20 }, (_, index) =>
      own.use(new Candidate({ store, election: `seat-${index}`, id: "a", work: "until-over" })),
    );
    for (const each of all) {
      // Whoever hears of the end of one term finds all of them over.
      each.elector.on("lost", () => void told.push(`${all.filter(({ isLeader }) => isLeader).length} lead`));
      each.start();
    }
    await until(() => all.every(({ isLeader }) => isLeader), { what: "twenty seats are held" });
    const sessions = proxy.sessions().length;
    proxy.blackhole();
    await until(() => told.length === 20, { what: "twenty terms are lost" });
    expect(new Set(told)).toEqual(new Set(["0 lead"]));
    proxy.heal();
    await until(() => all.every(({ isLeader }) => isLeader), { what: "twenty seats are held again" });
    expect(proxy.sessions().length).toBe(sessions + 1);
  });
});

describe.concurrent("an observer", () => {
  it("says since when it may be out of date, and catches up by itself", async () => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, ["a", "b"]);
    const store = zookeeper({ ...line.store, servers: proxy.address, sessionTimeout: 4000 });
    await using observer = observe(store, "seat");
    const seen: (string | undefined)[] = [];
    observer.on("change", (leader) => void seen.push(leader?.id));
    await until(() => observer.current?.id === "a" && observer.staleSince === null, { what: "it sees a" });
    expect((await inspect(store, "seat")).queue.map(({ id }) => id)).toEqual(["a", "b"]);

    proxy.blackhole();
    const cut = Date.now();
    await until(() => observer.staleSince !== null, { what: "it knows that it is out of date" });
    expect(observer.staleSince!.getTime()).toBeGreaterThanOrEqual(cut);
    line.all[0]!.elector.resign();
    await line.all[1]!.next("elected", 0);
    expect(observer.current?.id).toBe("a");
    proxy.heal();
    await until(() => observer.current?.id === "b" && observer.staleSince === null, { what: "it sees b" });
    expect(seen).toEqual(["a", "b"]);
    expect(observer.current?.fence).toBe(line.all[1]!.elector.term?.fence);
  });
});

it("a candidate that finds no server at first is elected once there is one", async () => {
  await using late = await prepareZooKeeper({ tickTime: 500 });
  await using candidate = new Candidate({ store: { servers: late.address, root: "/late" }, id: "a" });
  const { error } = await candidate.start().next("warning", 0);
  expect(error).toMatchObject({ code: "unreachable", transient: true });
  await late.start();
  await candidate.next("elected", 0);
});
