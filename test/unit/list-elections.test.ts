import { afterEach, describe, expect, it } from "vitest";
import { list } from "../../src/cli/list.js";
import { StoreError } from "../../src/errors.js";
import { type ListOptions, listElections } from "../../src/list-elections.js";
import { TappedStore } from "./support/tapped-store.js";
import { watch } from "./support/watch.js";
import { World } from "./support/world.js";

let world: World;
afterEach(() => world.end());

const progress = { show() {}, end() {} };

function asker() {
  const clock = world.clock.process();
  const client = world.server.client("asker");
  const tap = new TappedStore(client);
  const begin = (options: ListOptions = {}) => watch(listElections(tap, { clock, ...options }));
  const command = (json: boolean) => watch(list({ store: tap, json, timeout: 5000, clock, progress }));
  return { clock, client, tap, begin, command };
}

describe("listElections", () => {
  it("shows every election by name, who leads and how many wait, and what is no election", async () => {
    world = new World();
    world.server.inject("a b", "not an election's name");
    world.server.inject("litter", "something");
    await world.lineUp("a", "b", "c");
    const other = world.candidate("x", { election: "another" });
    other.elector.start();
    await world.clock.settle();
    const { begin, command, tap, clock } = asker();
    const [found, table, json] = [begin(), command(false), command(true)];
    await world.clock.settle();
    const leader = (id: string) => expect.objectContaining({ id, number: 1 });
    expect(found.outcome).toEqual({
      value: {
        exists: true,
        elections: [
          { election: "another", leader: leader("x"), waiting: 0, problem: null },
          { election: "seat", leader: leader("a"), waiting: 2, problem: null },
        ],
        foreign: ["a b", "litter"],
      },
    });
    const fences = [other, world.candidates[0]].map((candidate) => candidate?.elector.term?.token as string);
    const width = Math.max(5, ...fences.map(({ length }) => length));
    const pad = (text: string) => text.padEnd(width);
    expect(table.outcome).toEqual({
      value: {
        code: 0,
        text: `ELECTION  LEADER  NUMBER  ${pad("FENCE")}  WAITING
another   x       1       ${pad(fences[0]!)}  0
seat      a       1       ${pad(fences[1]!)}  2
not tenure's: "a b", "litter"
`,
      },
    });
    const { value } = json.outcome as { value: { text: string } };
    expect(JSON.parse(value.text)).toMatchObject({
      exists: true,
      elections: [{ election: "another", leader: { id: "x", fence: fences[0] }, waiting: 0, problem: null }, { election: "seat" }],
      foreign: ["a b", "litter"],
    });
    expect(tap.names().filter((name) => !["open", "close", "elections", "survey", "touch"].includes(name))).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("tells how far it is, and reads no more than 64 at once", async () => {
    world = new World();
    for (let n = 0; n < 500; n++) world.server.supersede(`e${n}`);
    const { begin, tap } = asker();
    let pending = 0;
    let most = 0;
    tap.around = async (call, pass) => {
      if (call.name !== "survey") return pass();
      most = Math.max(most, ++pending);
      return pass().finally(() => pending--);
    };
    const told: number[] = [];
    const found = begin({ onProgress: (read, of) => void told.push(read, of) });
    await world.clock.settle();
    expect(found.outcome).toMatchObject({ value: { elections: { length: 500 } } });
    expect([most, told.at(-2), told.at(-1)]).toEqual([64, 500, 500]);
  });

  it("an election that cannot be read is told as such; a store that fails rejects, and reads no more", async () => {
    world = new World();
    for (let n = 0; n < 200; n++) world.server.supersede(`e${n}`);
    const { begin, client, command, tap } = asker();
    client.failNext("survey", new StoreError("auth", "lacks the permission READ"));
    const found = begin();
    await world.clock.settle();
    const { value } = found.outcome as { value: Awaited<ReturnType<typeof listElections>> };
    const broken = value.elections.filter(({ problem }) => problem);
    expect(broken).toMatchObject([{ leader: null, waiting: 0, problem: { code: "auth" } }]);
    client.failNext("survey", new StoreError("unsupported", "written by a later release"));
    const told = command(false);
    await world.clock.settle();
    expect(told.outcome).toMatchObject({
      value: { code: 78, text: expect.stringContaining("cannot be read: written by a later release") },
    });
    tap.calls.length = 0;
    client.failNext("survey");
    const failed = begin();
    await world.clock.settle();
    expect(failed.outcome).toMatchObject({ error: { code: "connection-lost" } });
    expect(tap.count("survey")).toBeLessThan(200);
  });

  it("that fails reads no more on a session that others go on to use", async () => {
    world = new World();
    for (let n = 0; n < 200; n++) world.server.supersede(`e${n}`);
    const host = world.candidate("host");
    host.elector.start();
    await world.clock.settle();
    host.client.failNext("survey");
    const failed = watch(listElections(host.tap, { clock: host.clock }));
    await world.clock.settle();
    expect([failed.outcome, host.elector.isLeader]).toMatchObject([{ error: { code: "connection-lost" } }, true]);
    expect(host.tap.count("survey")).toBeLessThan(200);
  });

  it("rejects with the reason of its signal, before it begins and later", async () => {
    world = new World();
    for (let n = 0; n < 200; n++) world.server.supersede(`e${n}`);
    const { begin, client } = asker();
    const abort = new AbortController();
    const reason = new Error("enough");
    client.holdReplies();
    const later = begin({ signal: abort.signal });
    await world.clock.settle();
    abort.abort(reason);
    const before = begin({ signal: abort.signal });
    client.release();
    await world.clock.settle();
    expect([later.outcome, before.outcome]).toEqual([{ error: reason }, { error: reason }]);
  });
});
