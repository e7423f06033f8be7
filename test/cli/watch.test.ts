import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { Elector, inspect } from "../../src/index.js";
import { ChildCandidate } from "../faults/support/child-candidate.js";
import { expire } from "../support/expire-session.js";
import { freePort } from "../support/free-port.js";
import { fresh } from "../support/names.js";
import { startProxy } from "../support/proxy.js";
import { connectRaw } from "../support/raw-session.js";
import { PATIENCE, until } from "../support/wait-for.js";
import { startZooKeeper } from "../support/zookeeper-server.js";
import { protect } from "./protect.js";
import { disposeAll, Tenure } from "./tenure.js";

interface Told {
  readonly type: string;
  readonly time: string;
  readonly leader?: { readonly id: string; readonly number: number; readonly fence: string } | null;
  readonly [more: string]: unknown;
}

/** Milliseconds. */
const TIMEOUT = 10_000;

let root: string;
let electors: Elector[] = [];
beforeEach(() => {
  expect(inject("buildError")).toBe("");
  root = fresh("watch");
});
afterEach(async () => {
  await Promise.all(electors.map((elector) => elector.stop()));
  electors = [];
  await disposeAll();
});

const url = (servers: string) => `zookeeper://${servers}?root=/${root}&sessionTimeout=${TIMEOUT}ms&tickTime=500ms`;

function watching(servers: string, ...flags: string[]): Tenure {
  return new Tenure(["watch", "--store", url(servers), "--election", "seat", "--json", ...flags]);
}

const told = ({ stdout }: Tenure): Told[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const leaders = (tenure: Tenure) => told(tenure).filter(({ type }) => type === "leader");
const types = (tenure: Tenure) => told(tenure).map(({ type }) => type);

function candidate(servers: string, id: string): Elector {
  const elector = new Elector({ store: zookeeper(url(servers)), election: "seat", id });
  electors.push(elector);
  elector.start();
  return elector;
}

async function lineUp(servers: string): Promise<[Elector, Elector]> {
  const a = candidate(servers, "a");
  await a.elected();
  const b = candidate(servers, "b");
  await until(() => b.state === "standby", { what: "b waits" });
  return [a, b];
}

/** Of those lines that tell a leader: never the same one twice in a row, and never an older one. */
function expectOrder(tenure: Tenure): void {
  const lines = leaders(tenure);
  for (const [index, { leader }] of lines.entries()) {
    if (index > 0) expect(leader?.fence).not.toBe(lines[index - 1]?.leader?.fence);
  }
  const fences = lines.flatMap(({ leader }) => (leader ? [BigInt(leader.fence)] : []));
  expect(fences).toEqual([...fences].sort((x, y) => (x < y ? -1 : 1)));
  const sights = types(tenure).filter((type) => type !== "leader");
  expect(sights).toEqual(sights.map((_, index) => (index % 2 === 0 ? "blind" : "sighted")));
}

describe("tenure watch", () => {
  it("writes a line for the state at first and for each change, and ends with 0 at SIGTERM and SIGINT", async () => {
    const server = inject("zookeeper");
    const watches = [watching(server), new Tenure(["watch", "--store", url(server), "--election", "seat"])] as const;
    const [json, plain] = watches;
    await until(() => leaders(json).length === 1 && plain.stdout !== "", { what: "the first lines" });
    const [a, b] = await lineUp(server);
    const term = a.term!;
    await a.stop();
    await b.elected();
    await until(() => leaders(json).at(-1)?.leader?.id === "b" && plain.stdout.includes("led by b"), { what: "b in the lines" });
    expect(leaders(json)[0]).toMatchObject({ election: "seat", leader: null });
    expect(leaders(json)[1]?.leader).toEqual({
      id: "a",
      number: term.number,
      fence: term.token,
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      metadata: {},
    });
    expectOrder(json);
    expect(plain.stdout).toMatch(/^\S+Z {2}nobody leads\n\S+Z {2}led by a {2}number \d+ {2}fence \d+ {2}since \S+Z\n/);
    json.kill("SIGTERM");
    plain.kill("SIGINT");
    expect([await json.exit(), await plain.exit()]).toEqual([0, 0]);
    expect([json.stderr, plain.stderr]).toEqual(["", ""]);
  });

  it("ends quietly when its reader has gone", async () => {
    const server = inject("zookeeper");
    const tenure = watching(server);
    await until(() => leaders(tenure).length === 1, { what: "the first line" });
    tenure.process.stdout?.destroy();
    await candidate(server, "a").elected();
    expect(await tenure.exit()).toBe(0);
    expect(tenure.stderr).toBe("");
  });

  it("shows the end right after restarts of the store, with no leader twice", async () => {
    // As long as the server may be away, and start.
    const sessionTimeout = 2 * PATIENCE;
    await using server = await startZooKeeper({ tickTime: 500, config: { maxSessionTimeout: sessionTimeout } });
    await using a = new ChildCandidate({ store: { servers: server.address, root: `/${root}`, sessionTimeout }, id: "a" });
    await a.next("elected");
    const b = candidate(server.address, "b");
    const tenure = watching(server.address);
    await until(() => leaders(tenure).at(-1)?.leader?.id === "a", { what: "a in the lines" });
    await server.stop();
    await server.start();
    // Its entry has outlived the restart: there is nothing to tell.
    await until(async () => (await inspect(zookeeper(url(server.address)), "seat")).leader?.id === "a", { what: "the server serves" });
    expect(leaders(tenure)).toHaveLength(1);
    await server.stop();
    await until(() => types(tenure).at(-1) === "blind", { what: "it lost sight" });
    a.signal("SIGKILL");
    await server.start();
    await using raw = await connectRaw(server.address);
    const [entry] = (await raw.children(`/${root}/seat/candidates`)).sort((x, y) => Number(x.slice(-10)) - Number(y.slice(-10)));
    await raw.delete(`/${root}/seat/candidates/${entry}`);
    await b.elected();
    await until(() => leaders(tenure).at(-1)?.leader?.fence === b.term?.token, { what: "b in the lines" });
    expectOrder(tenure);
    expect(
      types(tenure)
        .filter((type) => type !== "leader")
        .at(-1),
    ).toBe("sighted");
    // That nobody led for a moment may have been seen or not.
    expect(leaders(tenure).flatMap(({ leader }) => leader?.id ?? [])).toEqual(["a", "b"]);
  });

  it("misses nothing after its session was ended by force", async () => {
    const server = inject("zookeeper");
    const [a, b] = await lineUp(server);
    await using proxy = await startProxy(Number(server.split(":")[1]));
    const tenure = watching(proxy.address);
    await until(() => leaders(tenure).length === 1, { what: "the first line" });
    const first = proxy.sessions().at(-1)!;
    await expire(server, first);
    a.resign();
    await b.elected();
    await until(() => leaders(tenure).at(-1)?.leader?.id === "b", { what: "b in the lines" });
    expect(proxy.sessions().at(-1)?.id).not.toBe(first.id);
    b.resign();
    await a.elected();
    await until(() => leaders(tenure).at(-1)?.leader?.fence === a.term?.token, { what: "a in the lines" });
    expectOrder(tenure);
  });
});

describe("tenure watch --alert-after", () => {
  it("exits with 2 when nobody led for that long, at the earliest then", async () => {
    const server = inject("zookeeper");
    const elector = candidate(server, "a");
    await elector.elected();
    const tenure = watching(server, "--alert-after", "5s");
    await until(() => leaders(tenure).length === 1, { what: "the first line" });
    await elector.stop();
    expect(await tenure.exit()).toBe(2);
    const [led, nobody, alert] = told(tenure) as [Told, Told, Told];
    expect([led.leader?.id, nobody.leader, alert.type, alert.reason]).toEqual(["a", null, "alert", "no-leader"]);
    expect(Date.parse(alert.since as string) - Date.parse(nobody.time)).toBeGreaterThanOrEqual(0);
    // A timer of the system fires up to a millisecond early.
    expect(Date.parse(alert.time) - Date.parse(alert.since as string)).toBeGreaterThanOrEqual(4999);
  });

  it("exits with 69 when the store cannot be seen, and has said so once", async () => {
    const tenure = new Tenure(["watch", "--store", url(`127.0.0.1:${await freePort()}`), "--election", "seat", "--alert-after", "5s"]);
    expect(await tenure.exit()).toBe(69);
    expect(tenure.stdout).toBe("");
    expect(tenure.stderr).toMatch(
      /^tenure: lost sight of the store: [^\n]*connection refused[^\n]*\ntenure: nobody was seen to lead for 5 s, since \S+, and the store is out of sight[^\n]*\n$/,
    );
  });

  it("ends at once, with one line, where its credentials were never good enough", async () => {
    await protect(root, "seat");
    const tenure = watching(inject("zookeeper"));
    expect(await tenure.exit()).toBe(77);
    expect(tenure.stdout).toBe("");
    expect(tenure.stderr).toMatch(/^tenure: [^\n]*READ on[^\n]*TENURE_AUTH[^\n]*\n$/);
  });
});
