import { describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { Elector, inspect, observe, type StoreError } from "../../src/index.js";
import { fresh } from "../support/names.js";
import { until } from "../support/wait-for.js";
import { Candidate } from "./support/candidate.js";
import { lineUp } from "./support/line.js";
import { viewOf } from "./support/queue-view.js";

const server = inject("zookeeper");
const codeOf = ({ error }: { error: Error | null }) => (error as StoreError | null)?.code;

describe("what is not tenure's own", () => {
  it.each([
    [
      "a foreign child",
      "candidates/_c_1b2c-latch-0000000000",
      "10.0.0.1",
      "foreign-data",
      /candidates has children that are not tenure's.*latch.*delete them/,
    ],
    ["a malformed child", "candidates/0123-0000000001", "{}", "foreign-data", /candidates has children that are not tenure's.*delete them/],
    ["a term that is no JSON", "term", "hello", "foreign-data", /term is not a record of tenure.*delete it/],
    ["a term of another shape", "term", '{"v":1,"entry":7}', "foreign-data", /term is not a record of tenure.*delete it/],
    ["a term of a later release", "term", '{"v":2,"entry":null}', "unsupported", /v.*2/],
  ])("refuses a candidate if it is there at the start: %s", async (_, name, data, code, message) => {
    const root = `/${fresh("foreign")}`;
    await using view = await viewOf(server, root);
    await view.raw.ensure(`${view.path}/candidates`);
    await view.raw.create(`${view.path}/${name}`, data);
    const store = { servers: server, root };
    const candidate = new Candidate({ store, id: "a" }).start();
    const { error } = await candidate.next("stopped", 0);
    expect(error).toMatchObject({ code, transient: false });
    expect(error?.message).toMatch(message);
    expect(candidate.story()).toEqual(["stopped"]);
    await expect(new Elector({ store: zookeeper(store), election: "seat" }).lead(() => {})).rejects.toMatchObject({ code });

    // Nothing was changed: no entry of ours, and theirs is as it was.
    expect(await view.entries()).toEqual(name.startsWith("candidates/") ? [name.slice("candidates/".length)] : []);
    expect((await view.raw.get(`${view.path}/${name}`)).data).toBe(data);
  });

  it("is ignored with one warning if it appears later, whoever leads", async () => {
    await using line = await lineUp(server, ["a", "b"]);
    const { raw, path } = line.view;
    await raw.create(`${path}/candidates/notes`, "mine");
    await raw.create(`${path}/candidates/0123456789ABCDEF0123456789ABCDEF-0000000000`);
    await raw.create(`${path}/candidates/0123456789abcdef0123456789abcdef-`);
    for (let round = 0; round < 6; round++) {
      const leader = line.all.find(({ isLeader }) => isLeader) as Candidate;
      const other = line.all.find((candidate) => candidate !== leader) as Candidate;
      const [from, back] = [other.told.length, leader.told.length];
      leader.elector.resign();
      await other.next("elected", from);
      await leader.next("standby", back);
    }
    for (const candidate of line.all) expect(candidate.all("warning").map(codeOf)).toEqual(["foreign-data"]);
    const { leader, queue } = await inspect(line.all[0]!.store, "seat");
    expect(queue.map(({ id }) => id).sort()).toEqual(["a", "b"]);
    expect(leader?.id).toBe(line.all.find(({ isLeader }) => isLeader)?.elector.id);
  });

  it.each([["hello"], [""], ['{"v":1}'], ['{"v":1,"entry":"../../x","card":{"v":1,"id":"x","metadata":{}},"since":"never"}']])(
    "may overwrite the term: there is one leader again (%s)",
    async (data) => {
      await using line = await lineUp(server, ["a", "b", "c"]);
      const { raw, path } = line.view;
      const [a] = line.all as [Candidate];
      const number = a.elector.term?.number as number;
      const from = a.told.length;
      await raw.set(`${path}/term`, data);
      expect((await a.next("lost", from)).reason).toBe("superseded");
      const leader = await line.settled();
      expect(leader.elector.term?.number).toBeGreaterThan(number);
      for (const candidate of line.all) expect(candidate.all("warning").map(codeOf).slice(1)).toEqual([]);
    },
  );

  it("may take the term away: there is one leader again, with a higher fence", async () => {
    await using line = await lineUp(server, ["a", "b"]);
    const [a] = line.all as [Candidate];
    const fence = a.elector.term?.fence as bigint;
    const from = a.told.length;
    await line.view.raw.delete(`${line.view.path}/term`);
    await a.next("lost", from);
    const leader = await line.settled();
    expect(leader.elector.term?.fence).toBeGreaterThan(fence);
  });

  it("does not stop an observer, which tells of it in its log", async () => {
    await using line = await lineUp(server, ["a"]);
    const lines: string[] = [];
    const log = (_fields: object, message: string) => void lines.push(message);
    await using observer = observe(line.all[0]!.store, "seat", { logger: { debug: log, info: log, warn: log, error: log } });
    await until(() => observer.current?.id === "a", { what: "the observer sees a" });
    await line.view.raw.set(`${line.view.path}/term`, "hello");
    const number = 1;
    await until(() => observer.current?.id === "a" && observer.current.number > number, { what: "the observer sees the next term" });
  });
});
