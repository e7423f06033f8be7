import { describe, expect, inject, it } from "vitest";
import { expire } from "../support/expire-session.js";
import { startProxy } from "../support/proxy.js";
import type { Candidate } from "./support/candidate.js";
import { INTERVAL, lineUp } from "./support/line.js";

const server = inject("zookeeper");
const port = Number(server.split(":")[1]);

describe("an operator", () => {
  it("who deletes the leader's entry evicts it: nothing but a watch tells it", async () => {
    await using line = await lineUp(server, ["a", "b"]);
    const [a, b] = line.all as [Candidate, Candidate];
    const [from, waiting] = [a.told.length, b.told.length];
    const entry = await line.view.entryOf("a");
    await line.view.raw.delete(line.view.entryPath(entry));
    const lost = await a.next("lost", from);
    expect(lost.reason).toBe("evicted");
    await b.next("elected", waiting);
    await a.next("standby", from);
    expect(await line.settled()).toBe(b);
  });

  it("who deletes a waiter's entry sends it to the tail, and nobody else notices", async () => {
    await using line = await lineUp(server, ["a", "b", "c"]);
    const [a, b, c] = line.all as [Candidate, Candidate, Candidate];
    const before = [a.told.length, c.told.length] as const;
    await line.view.raw.delete(line.view.entryPath(await line.view.entryOf("b")));
    expect(await line.settled()).toBe(a);
    const entries = await line.view.entries();
    expect(await Promise.all(entries.map((entry) => line.view.idOf(entry)))).toEqual(["a", "c", "b"]);
    expect([a.deeds(before[0]), c.deeds(before[1])]).toEqual([[], []]);
    expect(b.story()).toEqual(["standby", "standby"]);
  });

  it.each([
    ["another card", JSON.stringify({ v: 1, id: "somebody", metadata: {} })],
    ["what is no card", "\u0000 not JSON"],
    ["nothing", ""],
  ])("who writes %s into every entry disturbs nobody", async (_, data) => {
    await using line = await lineUp(server, ["a", "b", "c"]);
    const before = line.all.map(({ told }) => told.length);
    for (const entry of await line.view.entries()) {
      await line.view.raw.set(line.view.entryPath(entry), data);
      await line.view.raw.set(line.view.entryPath(entry), data);
    }
    const stories = () => line.all.map((candidate, index) => candidate.deeds(before[index]));
    // A proof later nothing has come of it; and whoever waited still hears when its turn has come.
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    expect(stories()).toEqual([[], [], []]);
    const [a, b, c] = line.all as [Candidate, Candidate, Candidate];
    const [waiting, last] = [b.told.length, c.told.length];
    await a.stop();
    await b.next("elected", waiting);
    await b.stop();
    await c.next("elected", last);
    expect(c.count("warning") + b.count("warning")).toBe(0);
  });

  it("who removes everything finds one leader and all others waiting, a moment later", async () => {
    await using line = await lineUp(server, ["a", "b", "c"]);
    const [a] = line.all as [Candidate];
    const from = a.told.length;
    await line.view.raw.deleteAll(line.store.root as string);
    expect((await a.next("lost", from)).reason).toBe("evicted");
    await line.settled();
  });

  it("who ends the leader's session, or a waiter's, by force sees it stand again", async () => {
    await using proxy = await startProxy(port);
    await using line = await lineUp(server, []);
    const a = await line.join("a", { store: { ...line.store, servers: proxy.address } });
    const b = await line.join("b");
    const from = a.told.length;
    const waiting = b.told.length;
    await expire(server, proxy.sessions().at(-1)!);
    const lost = await a.next("lost", from);
    expect(lost.reason).toMatch(/^(session-ended|evicted)$/);
    await b.next("elected", waiting);
    expect(await line.settled()).toBe(b);
    // It waits on a new session now.
    await expire(server, proxy.sessions().at(-1)!);
    expect(await line.settled()).toBe(b);
    expect(b.count("lost")).toBe(0);
  });
});
