import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { fresh } from "../support/names.js";
import { connectRaw } from "../support/raw-session.js";
import { Example, fenceOf, type Program, timeOf } from "./example.js";

const example = new Example("scheduler");
beforeAll(() => example.build(), 120_000);
afterAll(() => example.dispose());

describe("the scheduler", () => {
  let root: string;
  let a: Program;
  let b: Program;
  beforeEach(async () => {
    root = fresh("scheduler");
    [a, b] = await example.startTwo(root);
  });
  afterEach(() => example.stopAll());

  it("stopped: no new run, the one under way ends, and only then the next process begins", async () => {
    const first = await a.wrote(/invoices begins, fence \d+/);
    const from = a.lines.length;
    await a.wrote(/invoices begins/, from);
    a.kill("SIGTERM");
    expect(await a.ended()).toEqual({ code: 0, signal: null });
    const texts = a.lines.map(({ text }) => text);
    expect(texts.at(-1)).toMatch(/term \d+ is over: stopped$/);
    expect(texts.filter((text) => text.includes("begins")).length).toBe(texts.filter((text) => text.includes("done")).length);
    const next = await b.wrote(/invoices begins, fence \d+/);
    const last = a.lines.filter(({ text }) => text.includes("done")).at(-1);
    expect(timeOf(next)).toBeGreaterThanOrEqual(timeOf(last));
    expect(fenceOf(next)).toBeGreaterThan(fenceOf(first));
  });

  it("killed: another process takes over", async () => {
    const first = await a.wrote(/invoices begins, fence \d+/);
    a.kill("SIGKILL");
    const next = await b.wrote(/invoices begins, fence \d+/);
    expect(fenceOf(next)).toBeGreaterThan(fenceOf(first));
  });

  it("evicted: the run under way is abandoned", async () => {
    await using raw = await connectRaw(inject("zookeeper"));
    const candidates = `/${root}/scheduler/candidates`;
    for (let [leader, other] = [a, b]; ; [leader, other] = [other, leader]) {
      const [from, next] = [leader.lines.length, other.lines.length];
      await leader.wrote(/invoices begins/, from);
      const entries = (await raw.children(candidates)).sort((x, y) => x.slice(-10).localeCompare(y.slice(-10)));
      await raw.delete(`${candidates}/${entries[0]}`);
      await leader.wrote(/: standby/, from);
      await other.wrote(/invoices begins/, next);
      // On a machine that paused just then, the run may have been done: once more, with the other one.
      if (leader.lines.slice(from).some(({ text }) => /invoices abandoned, fence \d+: /.test(text))) break;
    }
  });
});
