import { afterEach, describe, expect, it } from "vitest";
import type { MemoryClient } from "../../adapters/memory/index.js";
import { watch as tenureWatch, type WatchOptions } from "../../src/cli/watch.js";
import { StoreError } from "../../src/errors.js";
import { silent } from "../../src/logger.js";
import type { ManualClock } from "../../src/manual-clock.js";
import { watch } from "./support/watch.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;
const ALERT = 30_000;

let world: World;
let watches: Watched[] = [];
afterEach(async () => {
  for (const { stop, client } of watches) {
    client.accept();
    stop.abort();
  }
  await world.clock.advanceUntil(() => watches.every(({ code }) => code.outcome !== null), 3 * TTL);
  watches = [];
  await world.end();
});

interface Watched {
  readonly lines: Record<string, unknown>[];
  readonly text: string[];
  readonly warned: string[];
  readonly client: MemoryClient;
  readonly clock: ManualClock;
  readonly stop: AbortController;
  readonly code: ReturnType<typeof watch<number>>;
}

/** `tenure watch`, in a process of its own. */
function begin(options: Partial<WatchOptions> = {}): Watched {
  const [client, clock, stop] = [world.server.client("watch"), world.clock.process(), new AbortController()];
  const [text, warned]: string[][] = [[], []];
  const lines: Record<string, unknown>[] = [];
  const tell = (line: string) => {
    text!.push(line);
    if (line.startsWith("{")) lines.push(JSON.parse(line));
  };
  const given = { store: client, election: "seat", json: true, alertAfter: null, clock, logger: silent, ...options };
  const warn = (line: string) => void warned!.push(line);
  const redact = (line: string) => line.replaceAll("s3cret", "***");
  const code = watch(tenureWatch({ ...given, tell, warn, redact, signal: stop.signal }));
  const watched = { lines, text: text!, warned: warned!, client, clock, stop, code };
  watches.push(watched);
  return watched;
}

const types = ({ lines }: Watched) => lines.map(({ type }) => type);
const leaders = ({ lines }: Watched) =>
  lines.filter(({ type }) => type === "leader").map(({ leader }) => (leader as { id: string } | null)?.id ?? null);

describe("tenure watch", () => {
  it("tells the state at first and each change, with time, id, number, fence as a string and since when", async () => {
    world = new World();
    const w = begin();
    const plain = begin({ json: false });
    await world.clock.settle();
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    await world.clock.settle();
    const { fence, since } = a.elector.term!;
    a.elector.resign();
    await world.clock.advance(500);
    expect(leaders(w)).toEqual([null, "a", "b"]);
    const time = new Date(w.clock.wall() - 500).toISOString();
    expect(w.lines[0]).toEqual({ type: "leader", time, election: "seat", leader: null });
    const leader = { id: "a", number: 1, fence: `${fence}`, since: since.toISOString(), metadata: {} };
    expect(w.lines[1]).toEqual({ type: "leader", time, election: "seat", leader });
    expect(plain.text[0]).toBe(`${time}  nobody leads`);
    expect(plain.text[1]).toBe(`${time}  led by a  number 1  fence ${fence}  since ${since.toISOString()}`);
    expect([w.warned, plain.warned]).toEqual([[], []]);
  });

  it("says once that it lost sight of the store and once that it sees again, and no leader twice", async () => {
    world = new World();
    await world.lineUp("a", "b");
    const w = begin();
    const plain = begin({ json: false });
    await world.clock.settle();
    for (const { client } of [w, plain]) client.refuse(new StoreError("unreachable", "no way to s3cret"));
    for (const { client } of [w, plain]) client.partition();
    await world.clock.advance(6 * TTL);
    for (const { client } of [w, plain]) {
      client.accept();
      client.heal();
    }
    await world.clock.advance(TTL);
    expect(types(w)).toEqual(["leader", "blind", "sighted"]);
    expect(w.lines[1]).toMatchObject({ election: "seat", error: { code: expect.any(String), message: expect.any(String) } });
    expect(w.lines[2]?.blindSince).toBe(w.lines[1]?.time);
    expect(plain.text).toHaveLength(1);
    expect(plain.warned).toEqual([expect.stringMatching(/^lost sight of the store: /), "sees the store again"]);
    expect(JSON.stringify(w.lines)).not.toContain("s3cret");
  });

  it("tells what came of the election while it saw nothing, after it has said that it sees again", async () => {
    world = new World();
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    const w = begin();
    await world.clock.settle();
    w.client.partition();
    await world.clock.advance(TTL + 1000);
    a.elector.resign();
    await world.clock.advance(1000);
    w.client.heal();
    await world.clock.advance(TTL);
    expect(types(w)).toEqual(["leader", "blind", "sighted", "leader"]);
    expect(leaders(w)).toEqual(["a", "b"]);
  });

  it("goes on after the end of its session", async () => {
    world = new World();
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    const w = begin();
    await world.clock.settle();
    for (const session of w.client.sessions) world.server.expire(session);
    await world.clock.advance(3000);
    a.elector.resign();
    await world.clock.advance(500);
    expect(leaders(w)).toEqual(["a", "b"]);
  });

  it("ends with 0 when it is told to, also while the store does not answer", async () => {
    world = new World();
    const [w, cut] = [begin(), begin()];
    await world.clock.settle();
    cut.client.partition();
    for (const { stop } of [w, cut]) stop.abort();
    await world.clock.settle();
    expect([w.code.outcome, cut.code.outcome]).toEqual([{ value: 0 }, null]);
    await world.clock.advance(2000);
    expect(cut.code.outcome).toEqual({ value: 0 });
    expect(w.clock.pending).toBe(0);
  });

  it("ends at once on what has never worked and no further try cures; later it tries on", async () => {
    world = new World();
    const refused = new StoreError("auth", "not you");
    world.server.refuse(refused);
    const w = begin();
    await world.clock.advance(1000);
    world.server.accept();
    expect([w.code.outcome, w.warned[0]]).toEqual([{ value: 77 }, expect.stringContaining("not you")]);
    const later = begin();
    await world.clock.settle();
    later.client.refuse(refused);
    for (const session of later.client.sessions) world.server.expire(session);
    await world.clock.advance(TTL);
    expect([later.code.outcome, types(later)]).toEqual([null, ["leader", "blind"]]);
  });
});

describe("tenure watch --alert-after", () => {
  it("exits with 2 when nobody was found to lead for that long from the start, and not before", async () => {
    world = new World();
    const w = begin({ alertAfter: ALERT });
    await world.clock.advance(ALERT - 1);
    expect(w.code.outcome).toBe(null);
    await world.clock.advance(1);
    expect(w.code.outcome).toEqual({ value: 2 });
    expect(types(w)).toEqual(["leader", "alert"]);
    const since = new Date(w.clock.wall() - ALERT).toISOString();
    expect(w.lines[1]).toMatchObject({ election: "seat", reason: "no-leader", since });
  });

  it("refuses no time at all", async () => {
    world = new World();
    const w = begin({ alertAfter: 0 });
    await world.clock.settle();
    expect(w.code.outcome).toMatchObject({ error: { option: "--alert-after" } });
  });

  it("counts anew after each leader", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const w = begin({ alertAfter: ALERT });
    await world.clock.advance(3 * ALERT);
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    await world.clock.advance(ALERT - 1);
    const [b] = (await world.lineUp("b")) as [Candidate];
    await world.clock.advance(2 * ALERT);
    expect(w.code.outcome).toBe(null);
    expect(leaders(w)).toEqual(["a", null, "b"]);
    await Promise.all([b.elector.stop(), world.clock.settle()]);
    await world.clock.advance(ALERT);
    expect(w.code.outcome).toEqual({ value: 2 });
  });

  it("exits with 69 when the store is out of sight: nobody is seen to lead, though somebody may", async () => {
    world = new World();
    await world.lineUp("a");
    const w = begin({ alertAfter: ALERT });
    await world.clock.settle();
    w.client.partition();
    await world.clock.advanceUntil(() => types(w).includes("blind"), TTL);
    await world.clock.advance(ALERT - 1);
    expect(w.code.outcome).toBe(null);
    await world.clock.advance(2001);
    expect(w.code.outcome).toEqual({ value: 69 });
    expect(w.lines.at(-1)).toMatchObject({ type: "alert", reason: "no-sight", since: w.lines[1]?.time });
  });

  it("goes on counting when it sees again that nobody leads, and stops when somebody does", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const [w, lucky] = [begin({ alertAfter: ALERT }), begin({ alertAfter: ALERT })];
    await world.clock.settle();
    for (const { client } of [w, lucky]) client.partition();
    await world.clock.advanceUntil(() => types(w).includes("blind") && types(lucky).includes("blind"), TTL);
    await world.clock.advance(ALERT / 2);
    lucky.client.heal();
    await world.clock.advanceUntil(() => types(lucky).includes("sighted"), TTL);
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    w.client.heal();
    await world.clock.advanceUntil(() => w.code.outcome !== null, ALERT);
    expect(types(w)).toEqual(["leader", "blind", "sighted", "leader", "alert"]);
    expect(w.lines.at(-1)).toMatchObject({ reason: "no-leader", since: w.lines[1]?.time });
    expect(lucky.code.outcome).toBe(null);
    expect(leaders(lucky)).toEqual(["a", null]);
  });
});
