import { describe, expect, inject, it } from "vitest";
import { fresh } from "../support/names.js";
import { Candidate } from "./support/candidate.js";
import { now } from "./support/now.js";
import { tenHandOvers } from "./support/scenarios/hand-over.js";
import { withdrawals } from "./support/scenarios/withdrawals.js";

const server = inject("zookeeper");

describe("a seat that changes hands", () => {
  it("is handed over ten times in a row among ten candidates, each time within half a proof interval", async () => {
    expect((await tenHandOvers(server)).problems).toEqual([]);
  });

  it("is taken again at once by a candidate that stops and starts", async () => {
    const store = { servers: server, root: `/${fresh("again")}`, sessionTimeout: 10_000 };
    await using candidate = new Candidate({ store, id: "only" });
    await candidate.start().next("elected", 10_000, 0);
    await candidate.stop();
    for (let round = 0; round < 5; round++) {
      const from = candidate.told.length;
      const started = now();
      const { at } = await candidate.start().next("elected", 10_000, from);
      expect(at - started).toBeLessThan(1000);
      await candidate.stop();
    }
  });

  it("is never held by two, whoever withdraws or is removed", async () => {
    expect((await withdrawals(server, { rule: "ours", duration: 12_000 })).problems).toEqual([]);
  });

  it("would be held by two if candidates claimed whenever their predecessor goes", async () => {
    const { problems } = await withdrawals(server, { rule: "hasty", duration: 30_000 });
    expect(problems.join()).toMatch(/began (while|with) [1-9]/);
  });
});
