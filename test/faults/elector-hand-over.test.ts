import { describe, expect, inject, it } from "vitest";
import { fresh } from "../support/names.js";
import { startProxy } from "../support/proxy.js";
import { until } from "../support/wait-for.js";
import { Candidate } from "./support/candidate.js";
import { now } from "./support/now.js";
import { Pace } from "./support/pace.js";
import { tenHandOvers } from "./support/scenarios/hand-over.js";
import { withdrawals } from "./support/scenarios/withdrawals.js";

const server = inject("zookeeper");

describe("a seat that changes hands", () => {
  it("is handed over ten times in a row among ten candidates, each time within half a proof interval", async () => {
    expect((await tenHandOvers(server)).problems).toEqual([]);
  });

  it("takes no list: who joins a leader that is alone is told to it", async () => {
    await using proxy = await startProxy(Number(server.split(":")[1]));
    const root = `/${fresh("alone")}`;
    await using first = new Candidate({ store: { servers: proxy.address, root, sessionTimeout: 10_000 }, id: "first" });
    await using second = new Candidate({ store: { servers: server, root, sessionTimeout: 10_000 }, id: "second" });
    const lists = () => proxy.requests("getChildren2");
    await first.start().next("elected", 0);
    // Looks until all has been made, then who is next (nobody), and the watch on its own entry.
    await until(() => lists() >= 5, { what: "the leader knows that it is alone" });
    second.start();
    await until(() => lists() >= 6, { what: "the leader has looked who joined" });
    await second.next("standby", 0);
    // Asked on the same connection, so the list has been answered when this is.
    expect((await first.elector.leader())?.id).toBe("first");
    const before = lists();
    await first.stop();
    await second.next("elected", 0);
    expect(lists()).toBe(before);
  });

  it("is taken again at once by a candidate that stops and starts", async () => {
    const store = { servers: server, root: `/${fresh("again")}`, sessionTimeout: 10_000 };
    await using pace = await Pace.at(server);
    await using candidate = new Candidate({ store, id: "only" });
    await candidate.start().next("elected", 0);
    await candidate.stop();
    for (let round = 0; round < 5; round++) {
      const from = candidate.told.length;
      const started = now();
      const { at } = await candidate.start().next("elected", from);
      // Were its old entry in the way, that would last as long as the session.
      expect(at - started).toBeLessThan(1000 + (await pace.slack(started)));
      await candidate.stop();
    }
  });

  it("is never held by two, whoever withdraws or is removed", async () => {
    expect((await withdrawals(server, { rule: "ours", duration: 12_000 })).problems).toEqual([]);
  });

  it("would be held by two if candidates claimed whenever their predecessor goes", { timeout: 600_000 }, async () => {
    const { problems } = await withdrawals(server, { rule: "hasty", duration: 300_000 });
    expect(problems.join()).toMatch(/began (while|with) [1-9]/);
  });
});
