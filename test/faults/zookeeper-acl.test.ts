import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from "vitest";
import type { ZooKeeperOptions } from "../../adapters/zookeeper/index.js";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { inspect, observe, type StoreError, type Term } from "../../src/index.js";
import { fresh } from "../support/names.js";
import { startProxy } from "../support/proxy.js";
import { connectRaw } from "../support/raw-session.js";
import { until } from "../support/wait-for.js";
import { Belongings } from "./support/belongings.js";
import { aborted, Candidate } from "./support/candidate.js";
import { Administrator, authOf, may } from "./support/people.js";

const TIMEOUT = 10_000;
const server = inject("zookeeper");

let root: string;
let own: Belongings;
beforeEach(() => {
  root = `/${fresh("acl")}`;
  own = new Belongings();
});
afterEach(() => own[Symbol.asyncDispose]());

const at = (user: string | null, options: Partial<ZooKeeperOptions> = {}): ZooKeeperOptions => ({
  servers: server,
  root,
  sessionTimeout: TIMEOUT,
  tickTime: 500,
  ...(user !== null && { auth: authOf(user) }),
  ...options,
});

/** A candidate of that identity, named after it. */
const stand = (user: string, acl: string, options: Partial<ZooKeeperOptions> = {}) =>
  own.use(new Candidate({ store: at(user, { acl, ...options }), id: user })).start();

const elected = (candidate: Candidate) => candidate.next("elected", 0);
const standby = (candidate: Candidate) => candidate.next("standby", 0);

/** Each of two leads once, and hands the seat over, not leaves it empty: so the version of `term` rises by one at each change. */
async function takeTurns(a: Candidate, b: Candidate): Promise<void> {
  const first = (await elected(a)).term;
  await standby(b);
  await a.elector.resign();
  const second = (await elected(b)).term;
  await until(() => a.elector.state === "standby", { what: "the first one waits again" });
  const again = a.next("elected");
  await b.stop();
  const third = (await again).term;
  expect([second?.number, third?.number]).toEqual([first!.number + 1, first!.number + 2]);
}

/** What somebody else can do with the nodes of an election, with a client of any kind. Destroys it. `insider` may list the entries. */
async function powers(user: string | null, insider: string): Promise<string[]> {
  await using raw = await connectRaw(server, user === null ? {} : { digest: authOf(user) });
  await using inside = await connectRaw(server, { digest: authOf(insider) });
  const [entry] = await inside.children(`${root}/seat/candidates`);
  const tries: Record<string, () => Promise<unknown>> = {
    list: () => raw.children(`${root}/seat/candidates`),
    term: () => raw.get(`${root}/seat/term`),
    card: () => raw.get(`${root}/seat/candidates/${entry}`),
    seat: () => raw.set(`${root}/seat/term`, "mine"),
    join: () => raw.create(`${root}/seat/candidates/foreign`),
    evict: () => raw.delete(`${root}/seat/candidates/${entry}`),
    make: () => raw.create(`${root}/seat/other`),
    elections: () => raw.children(root),
    election: () => raw.create(`${root}/another`),
  };
  const can: string[] = [];
  for (const [what, act] of Object.entries(tries)) {
    const outcome = await act().then(
      () => "done",
      ({ name }: Error) => name,
    );
    if (outcome !== "NO_AUTH") can.push(what);
  }
  return can;
}

/** Waits for the candidate to stop with its one error, which it returns; it has left no entry. */
async function refused(candidate: Candidate): Promise<StoreError> {
  const { error } = await candidate.next("stopped", 0);
  expect(error).toMatchObject({ name: "ZooKeeperError", code: "auth", transient: false });
  expect(error?.message).not.toContain("secret");
  expect(candidate.count("warning")).toBe(0);
  return error as StoreError;
}

describe("one identity for all candidates", () => {
  it("owns what it makes (`creator`), and nobody else may touch or even read it", async () => {
    const [a, b] = [stand("team", "creator"), own.use(new Candidate({ store: at("team", { acl: "creator" }), id: "b" }))];
    await elected(a);
    b.start();
    await takeTurns(a, b);
    expect(await powers("stranger", "team")).toEqual([]);
    expect(await powers(null, "team")).toEqual([]);
  });

  it.each([
    ["a wrong password", { auth: "team:wrong-secret" }, "digest:team", "check the password"],
    ["no credentials", {}, "a client without credentials", "give credentials"],
  ])("refuses %s with one error that names path, identity and what to do", async (_, auth, who, cure) => {
    const a = stand("team", "creator");
    await elected(a);
    const b = own.use(new Candidate({ store: { ...at(null), ...auth }, id: "b" })).start();
    const { message } = await refused(b);
    expect(message).toContain(`NOAUTH: ${who}`);
    expect(message).toContain(`CREATE on ${root}/seat/candidates: ${cure}`);
    expect(a.isLeader).toBe(true);
  });
});

describe("several identities", () => {
  const both = `${may("ann", "cdrw")},${may("bob", "cdrw")}`;

  it("stand for the same seat, lead and hand over, whoever made the nodes", async () => {
    const ann = stand("ann", both);
    await elected(ann);
    const bob = stand("bob", both);
    await takeTurns(ann, bob);
    expect(await powers("stranger", "ann")).toEqual([]);
  });

  it("without the permission a: none of them can let in somebody else", async () => {
    await elected(stand("ann", both));
    await using raw = await connectRaw(server, { digest: authOf("bob") });
    const everybody = [{ permissions: "cdrwa", scheme: "world", id: "anyone" }];
    await expect(raw.allow(`${root}/seat/term`, everybody)).rejects.toMatchObject({ name: "NO_AUTH" });
  });

  it("of one client: `creator` gives the nodes to each of them", async () => {
    const ann = stand("ann", "creator", {
      auth: [authOf("ann"), authOf("team")].map((credentials) => ({ scheme: "digest", credentials })),
    });
    await elected(ann);
    const bob = stand("bob", "creator", {
      auth: [authOf("bob"), authOf("team")].map((credentials) => ({ scheme: "digest", credentials })),
    });
    await standby(bob);
    await ann.stop();
    await elected(bob);
    // The one identity that both have is what lets them see each other: bob alone is nobody here.
    const alone = own.use(new Candidate({ store: at("bob"), id: "alone" })).start();
    expect((await refused(alone)).message).toContain(`NOAUTH: digest:bob lacks the permission CREATE on ${root}/seat/candidates`);
  });
});

describe("an identity that only reads", () => {
  const acl = `${may("ann", "cdrw")},${may("eve", "r")}`;

  it("observes and inspects, and can do nothing else", async () => {
    const ann = stand("ann", acl);
    await elected(ann);
    const store = zookeeper(at("eve"));
    const observer = own.use(observe(store, "seat"));
    await until(() => observer.current?.id === "ann", { what: "the observer sees the leader" });
    const { leader, queue } = await inspect(store, "seat");
    expect([leader?.id, queue.map(({ id }) => id)]).toEqual(["ann", ["ann"]]);
    expect(await powers("eve", "ann")).toEqual(["list", "term", "card", "elections"]);
    await ann.stop();
    await until(() => observer.current === null, { what: "the observer sees that nobody leads" });
    expect(observer.staleSince).toBeNull();
    expect((await refused(stand("eve", acl))).message).toContain("digest:eve lacks the permission CREATE");
  });

  it("is told what it may not read", async () => {
    await elected(stand("ann", may("ann", "cdrw")));
    await expect(inspect(zookeeper(at("eve")), "seat")).rejects.toMatchObject({
      code: "auth",
      message: expect.stringContaining(`digest:eve lacks the permission READ on ${root}/seat/term`),
    });
  });
});

describe("nodes that an administrator has made", () => {
  /** The least that ann and bob can stand with; eve looks on. */
  const LEAST: Readonly<Record<string, readonly [string, string[]]>> = {
    root: ["", []],
    election: ["/seat", []],
    candidates: ["/seat/candidates", [may("ann", "cdr"), may("bob", "cdr"), may("eve", "r")]],
    term: ["/seat/term", [may("ann", "rw"), may("bob", "rw"), may("eve", "r")]],
  };
  const ENTRY = ["ann", "bob", "eve"].map((user) => may(user, "r")).join(",");

  let admin: Administrator;
  beforeEach(async () => {
    admin = own.use(await Administrator.at(server));
  });

  async function prepare(...without: string[]): Promise<void> {
    for (const [name, [path, acl]] of Object.entries(LEAST)) if (!without.includes(name)) await admin.make(root + path, ...acl);
  }

  it("leave candidates no more than the least: nothing on root and election", async () => {
    await prepare();
    const ann = stand("ann", ENTRY);
    await elected(ann);
    expect(await powers("eve", "ann")).toEqual(["list", "term", "card"]);
    expect((await inspect(zookeeper(at("eve")), "seat")).leader?.id).toBe("ann");
    await takeTurns(ann, stand("bob", ENTRY));
    expect(ann.count("warning")).toBe(0);
  });

  it("may be the election alone: candidates make what lies below it", async () => {
    await admin.make(root);
    await admin.make(`${root}/seat`, may("ann", "c"));
    const ann = stand("ann", `${may("ann", "cdrw")},${may("bob", "cdrw")}`);
    await elected(ann);
    await takeTurns(ann, stand("bob", ENTRY));
  });

  it.each([
    ["the election", "CREATE", ["election", "candidates", "term"], ""],
    ["candidates", "CREATE", ["candidates", "term"], "/seat"],
    ["term", "CREATE", ["term"], "/seat"],
  ])("refuse a candidate where %s is missing: it would need %s on its parent", async (_, permission, without, path) => {
    await prepare(...without);
    expect((await refused(stand("ann", ENTRY))).message).toContain(`${permission} on ${root}${path}:`);
  });

  it.each([
    ["CREATE", "/seat/candidates", "dr"],
    ["DELETE", "/seat/candidates", "cr"],
    ["READ", "/seat/candidates", "cd"],
    ["READ", "/seat/term", "w"],
    ["WRITE", "/seat/term", "r"],
  ])("refuse a candidate that lacks %s on %s, and nothing of it stays in the way", async (permission, path, left) => {
    await prepare();
    await admin.allow(root + path, may("ann", left), may("bob", "cdrw"));
    expect((await refused(stand("ann", ENTRY))).message).toContain(`digest:ann lacks the permission ${permission} on ${root}${path}:`);
    expect(await admin.raw.children(`${root}/seat/candidates`)).toEqual([]);
    await elected(stand("bob", ENTRY));
  });

  it("a candidate that may not write the term leads when it is handed the seat, and leaves it to the next", async () => {
    await prepare();
    await admin.allow(`${root}/seat/term`, may("ann", "r"), may("bob", "rw"));
    const bob = stand("bob", ENTRY);
    await elected(bob);
    const ann = stand("ann", ENTRY);
    await standby(ann);
    const again = bob.next("elected");
    await bob.elector.resign();
    await elected(ann);
    await until(() => bob.elector.state === "standby", { what: "bob waits again" });
    await ann.stop();
    await again;
  });

  it("a candidate that may not read the entry before its own is refused, and stands in nobody's way", async () => {
    await prepare();
    const ann = stand("ann", may("ann", "r"));
    await elected(ann);
    const [entry] = await admin.raw.children(`${root}/seat/candidates`);
    expect((await refused(stand("bob", ENTRY))).message).toContain(
      `digest:bob lacks the permission READ on ${root}/seat/candidates/${entry}:`,
    );
    expect(await admin.raw.children(`${root}/seat/candidates`)).toEqual([entry]);
  });

  it("a candidate that may not read its own entry does not lead", async () => {
    await prepare();
    const ann = stand("ann", may("bob", "r"));
    expect((await refused(ann)).message).toContain(`digest:ann lacks the permission READ on ${root}/seat/candidates/`);
    expect(ann.story()).toEqual(["stopped"]);
    await elected(stand("bob", ENTRY));
  });

  it("a leader that may not look at the seat any more drains its work, leaves, and stops with that error", async () => {
    await prepare();
    let drained = false;
    const work = (term: Term) => aborted(term.draining).then(() => (drained = term.valid));
    const proxy = await startProxy(Number(server.split(":")[1]));
    onTestFinished(() => proxy.dispose());
    const ann = own.use(new Candidate({ store: at("ann", { acl: ENTRY, servers: proxy.address }), id: "ann", work })).start();
    await elected(ann);
    await admin.allow(`${root}/seat/term`, may("bob", "rw"));
    // A server tells no event to who may not read the node; on the next connection the watches are set anew.
    proxy.cut();
    const { error } = await ann.next("stopped", 0);
    expect(error?.message).toContain(`digest:ann lacks the permission READ on ${root}/seat/term:`);
    expect(ann.deeds()).toEqual(["elected", "warning", "draining:yielded", "lost:yielded", "stopped"]);
    expect(drained).toBe(true);
    await elected(stand("bob", ENTRY));
  });

  it("a candidate whose permission is taken away while it waits stops with that error when its turn comes", async () => {
    await prepare();
    const bob = stand("bob", ENTRY);
    await elected(bob);
    const ann = stand("ann", ENTRY);
    await standby(ann);
    await admin.allow(`${root}/seat/term`, may("bob", "rw"));
    await bob.stop();
    expect((await refused(ann)).message).toContain(`READ on ${root}/seat/term`);
    expect(await admin.raw.children(`${root}/seat/candidates`)).toEqual([]);
  });
});
