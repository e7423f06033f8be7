import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { Elector } from "../../src/index.js";
import { ChildCandidate } from "../faults/support/child-candidate.js";
import { now } from "../faults/support/now.js";
import { fresh } from "../support/names.js";
import { connectRaw, type RawSession } from "../support/raw-session.js";
import { until } from "../support/wait-for.js";
import { protect } from "./protect.js";
import { disposeAll, Tenure, type TenureOptions } from "./tenure.js";

/** Milliseconds. */
const TIMEOUT = 10_000;
const TICK = 500;

let root: string;
let raw: RawSession;
let electors: Elector[] = [];
beforeEach(async () => {
  expect(inject("buildError")).toBe("");
  root = fresh("operators");
  raw = await connectRaw(inject("zookeeper"));
});
afterEach(async () => {
  await Promise.all(electors.map((elector) => elector.stop()));
  electors = [];
  await disposeAll();
  await raw.close();
});

const options = () => ({ servers: inject("zookeeper"), root: `/${root}`, sessionTimeout: TIMEOUT, tickTime: TICK });
const url = () => `zookeeper://${inject("zookeeper")}?root=/${root}&sessionTimeout=${TIMEOUT}ms&tickTime=${TICK}ms`;

async function tenure(command: string, flags: readonly string[] = [], given?: TenureOptions) {
  const ran = new Tenure([command, "--store", url(), ...flags], given);
  const code = await ran.exit();
  return { code, stdout: ran.stdout, stderr: ran.stderr };
}
const evict = (...flags: string[]) => tenure("evict", ["--election", "seat", ...flags]);
const status = async () => {
  const { queue } = JSON.parse((await tenure("status", ["--election", "seat", "--json"])).stdout);
  return queue as { id: string; entry: string; leading: boolean; session: string | null }[];
};
const ids = async () => (await status()).map(({ id, leading }) => (leading ? `[${id}]` : id));

/** One after the other: the first leads. */
async function lineUp(...names: string[]): Promise<{ elector: Elector; told: string[] }[]> {
  const line = [];
  for (const id of names) {
    const elector = new Elector({ store: zookeeper(options()), election: "seat", id });
    const told: string[] = [];
    elector.on("elected", () => void told.push("elected"));
    elector.on("standby", () => void told.push("standby"));
    elector.on("lost", ({ reason }) => void told.push(reason));
    electors.push(elector);
    elector.start();
    await until(() => elector.state === (line.length === 0 ? "leading" : "standby"), { what: `${id} stands` });
    line.push({ elector, told });
  }
  return line;
}

describe("tenure list", () => {
  it("lists nothing where nothing is, says so, and makes nothing", async () => {
    const { code, stdout, stderr } = await tenure("list");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`zookeeper://${inject("zookeeper")}/${root} does not exist: no election was held there\n`);
    expect(JSON.parse((await tenure("list", ["--json"])).stdout)).toMatchObject({ exists: false, elections: [], foreign: [] });
    expect(await raw.exists(`/${root}`)).toBeNull();
  });

  it("lists thousands of elections, and tells what is none", async () => {
    await lineUp("a", "b", "c");
    const odd = `Odd.name_-${"x".repeat(190)}`;
    await new Elector({ store: zookeeper(options()), election: odd, id: "alone" }).lead(async () => {});
    const many = Array.from({ length: 2000 }, (_, n) => `e${String(n).padStart(4, "0")}`);
    for (let from = 0; from < many.length; from += 100) {
      const paths = many.slice(from, from + 100).flatMap((name) => [`/${root}/${name}`, `/${root}/${name}/candidates`]);
      await raw.multi(paths.map((path) => ({ op: "create", path })));
    }
    for (const name of ["litter", "with space", "ünïcode\u202e", "_hidden"]) await raw.create(`/${root}/${name}`);
    const json = await tenure("list", ["--json"]);
    expect([json.code, json.stderr]).toEqual([0, ""]);
    const { store, exists, elections, foreign } = JSON.parse(json.stdout);
    expect([store, exists]).toEqual([`zookeeper://${inject("zookeeper")}/${root}`, true]);
    expect(foreign).toEqual(["_hidden", "litter", "with space", "ünïcode\u202e"]);
    expect(elections.map(({ election }: { election: string }) => election)).toEqual([odd, ...many, "seat"]);
    expect(elections[0]).toEqual({ election: odd, leader: null, waiting: 0, problem: null });
    expect(elections.at(-1)).toMatchObject({ waiting: 2, leader: { id: "a", number: 2, fence: electors[0]?.term?.token } });
    const { stdout } = await tenure("list");
    expect(stdout).toMatch(/^ELECTION +LEADER +NUMBER +FENCE +WAITING\n/);
    expect(stdout).toMatch(new RegExp(`\\nseat +a +2 +${electors[0]?.term?.token} +2\\n`));
    expect(stdout).toMatch(/\nnot tenure's: "_hidden", "litter", "with space", "ünïcode\uFFFD"\n$/);
  });

  it("tells which election it may not read, and exits with 77", async () => {
    await lineUp("a");
    await protect(root, "secret");
    const { code, stdout } = await tenure("list");
    expect(code).toBe(77);
    expect(stdout).toMatch(/\nseat +a /);
    expect(stdout).toMatch(/\nsecret cannot be read: NOAUTH: .* READ on /);
  });
});

describe("tenure evict", () => {
  it("needs to be told whom", async () => {
    const none = await evict();
    expect([none.code, none.stderr]).toEqual([64, expect.stringMatching(/^tenure: [^\n]*--id ID, --entry ENTRY and --leader\n$/)]);
    const two = await evict("--leader", "--id", "a");
    expect([two.code, two.stderr]).toEqual([64, expect.stringContaining("cannot be used with")]);
  });

  it("sends a waiter to the tail", async () => {
    const [a] = await lineUp("a", "b", "c");
    const { code, stdout } = await evict("--id", "b");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^evicted {3}b\nentry {5}\S+\nleader {4}a {2}number 2 {2}fence \d+\n$/)]);
    await until(async () => (await ids()).join() === "[a],c,b", { what: "b at the tail" });
    expect(a?.told).toEqual(["elected"]);
  });

  it("ends the leader's term only when it is sure; the next one leads when the evicted one stands again", async () => {
    const [a, b] = await lineUp("a", "b");
    const unsure = await evict("--id", "a");
    expect([unsure.code, unsure.stderr]).toEqual([64, expect.stringMatching(/^tenure: --yes: needed to evict a [^\n]*\n$/)]);
    expect(a?.told).toEqual(["elected"]);
    const before = a?.elector.term?.fence as bigint;
    let order = "";
    a?.elector.on("standby", () => void (order += "a stands again, "));
    b?.elector.on("elected", () => void (order += "b leads"));
    const { code, stdout } = await evict("--leader", "--yes", "--json");
    const told = JSON.parse(stdout);
    expect([code, told.settled, told.evicted.id, told.leader.id]).toEqual([0, true, "a", "b"]);
    expect(BigInt(told.leader.fence)).toBeGreaterThan(before);
    expect(a?.told).toEqual(["elected", "evicted", "standby"]);
    expect(order).toBe("a stands again, b leads");
    expect(await ids()).toEqual(["[b]", "a"]);
  });

  it.each([
    { how: "keeps the seat free until a stopped leader's deadline must have passed", flags: [], believes: false },
    { how: "with --now lets the next one lead while a stopped leader still believes", flags: ["--now"], believes: true },
  ])("$how", async ({ flags, believes }) => {
    await using leader = new ChildCandidate({ store: options(), id: "leader" });
    await leader.next("elected");
    const next = new Elector({ store: zookeeper(options()), election: "seat", id: "next" });
    electors.push(next);
    let ledAt = 0;
    next.on("elected", () => void (ledAt = now()));
    next.start();
    await until(() => next.state === "standby", { what: "the next one waits" });
    const begun = now();
    await status();
    const command = now() - begun;
    leader.order("spin");
    await leader.next("spinning");
    // It has proved itself within an interval, so that its deadline is far away.
    leader.signal("SIGSTOP");
    const stopped = now();
    const evicting = evict("--leader", "--yes", ...flags);
    await until(() => ledAt > 0, { what: "the next one leads" });
    const seen = leader.lines.length;
    // The jump that it notices is one of a second at least.
    await until(() => now() - stopped > 1200, { what: "a jump" });
    leader.signal("SIGCONT");
    const jumped = await leader.next("jumped", seen);
    expect(jumped.before).toBe(true);
    const { code, stderr } = await evicting;
    expect(code).toBe(0);
    if (believes) {
      // The session of the stopped one lives on: the seat was given away under it.
      expect(ledAt - stopped).toBeLessThan(Math.max(TIMEOUT - 0.02 * TIMEOUT, 3 * command));
      expect(stderr).toMatch(/only sinks that check the fence are safe/);
    } else {
      expect(jumped.first).toBe(false);
      expect(stderr).toMatch(/kept free until it stands again/);
    }
    await leader.next("lost", seen);
  });

  it("says who is there when it finds nobody, or several", async () => {
    const nobody = await evict("--leader", "--yes");
    expect([nobody.code, nobody.stdout, nobody.stderr]).toEqual([1, "", "tenure: nobody leads; nobody stands; nothing was done\n"]);
    await lineUp("a", "twin", "twin");
    const missing = await evict("--entry", "x");
    expect([missing.code, missing.stderr]).toEqual([
      1,
      'tenure: there is no entry "x"; there are: a (leads), twin, twin; nothing was done\n',
    ]);
    const several = await evict("--id", "twin");
    const entries = (await status()).slice(1).map(({ entry }) => entry);
    expect([several.code, several.stderr]).toEqual([
      1,
      `tenure: 2 candidates are called "twin": name one with --entry: ${entries.join(", ")}; nothing was done\n`,
    ]);
    expect((await evict("--entry", entries[0] as string)).code).toBe(0);
    expect((await status()).map(({ entry }) => entry)).not.toContain(entries[0]);
  });

  it("without the permission says which one is missing where: 77, and nothing was done", async () => {
    await protect(root, "seat", "r", async (leader) => {
      const { code, stdout, stderr } = await evict("--leader", "--yes", "--now");
      expect([code, stdout]).toEqual([77, ""]);
      expect(stderr).toContain(`the permission DELETE on /${root}/seat/candidates`);
      const kept = await evict("--leader", "--yes");
      expect([kept.code, kept.stderr]).toEqual([77, expect.stringContaining(`/${root}/seat/candidates`)]);
      expect(leader.isLeader).toBe(true);
    });
  });

  it("removes an entry that belongs to no session, which `status` shows to block the queue", async () => {
    const [a] = await lineUp("a");
    const entry = `${"0".repeat(32)}-0000000001`;
    await raw.create(`/${root}/seat/candidates/${entry}`);
    const b = new Elector({ store: zookeeper(options()), election: "seat", id: "b" });
    electors.push(b);
    b.start();
    await until(() => b.state === "standby", { what: "b waits" });
    const { stdout } = await tenure("status", ["--election", "seat"]);
    expect(stdout).toMatch(new RegExp(`  2  ${entry}  belongs to no session: blocks those behind it`));
    expect((await status()).map(({ session }) => session === null)).toEqual([false, true, false]);
    // The seat is handed to the first that is listed, and nobody is there to lead.
    await a?.elector.stop();
    expect((await ids())[0]).toBe(`[${entry}]`);
    const { code, stdout: told } = await evict("--entry", entry);
    expect([code, told]).toEqual([0, expect.stringMatching(/\nleader {4}b {2}/)]);
    await b.elected();
  });
});
