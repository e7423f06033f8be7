import { describe, expect, it } from "vitest";
import { readOptions } from "../../adapters/zookeeper/zookeeper-options.js";
import { writeTerm } from "../../adapters/zookeeper/zookeeper-record.js";
import { ZooKeeperStore } from "../../adapters/zookeeper/zookeeper-store.js";
import { systemClock } from "../../src/clock.js";
import type { Contender, Session, Standing } from "../../src/store.js";
import { FakeClient, FakeEnsemble } from "./fake-zookeeper.js";

const signal = new AbortController().signal;
const TERM = "/tenure/e/term";
const CANDIDATES = "/tenure/e/candidates";
const STEAD = { id: "stead", metadata: {} };

class Scene {
  readonly ensemble = new FakeEnsemble();
  #sessions = 0n;

  async open(): Promise<{ client: FakeClient; session: Session }> {
    const client = new FakeClient(this.ensemble, ++this.#sessions);
    const store = new ZooKeeperStore(readOptions("zookeeper://fake"), async () => client);
    return { client, session: await store.open({ clock: systemClock }, signal) };
  }

  /** They stand in this order; the first holds the seat. */
  async lineUp(...ids: string[]): Promise<Contender[]> {
    const line: Contender[] = [];
    for (const id of ids) {
      const contender = (await this.open()).session.contend("e", { id, metadata: {} }, null);
      const place = await contender.look(signal);
      if (place.kind === "head") await contender.claim(place, signal);
      line.push(contender);
    }
    return line;
  }
}

const find = async (session: Session, id: string) => (await session.queue("e", signal)).find((one) => one.id === id) as Standing;

describe("evicting", () => {
  it("does nothing when the seat changes hands between its reads and its write", async () => {
    const scene = new Scene();
    await scene.lineUp("a", "b");
    const { client, session } = await scene.open();
    const [leader, waiter] = [await find(session, "a"), await find(session, "b")];
    const { version } = scene.ensemble.at(scene.ensemble.zxid).get(TERM)!.stat;
    client.before = (line) => {
      if (!line.startsWith("multi")) return;
      client.before = () => {};
      const data = writeTerm(waiter.entry, 0, {});
      const handOver = [
        { op: "delete", path: `${CANDIDATES}/${leader.entry}`, version: -1 },
        { op: "setData", path: TERM, data, version },
      ] as const;
      scene.ensemble.commit(handOver, 1n);
    };
    expect(await session.evict("e", waiter, null, signal)).toBeNull();
    expect((await session.queue("e", signal)).map(({ id, leading }) => [id, leading])).toEqual([["b", true]]);
  });

  it("reads behind a sync whether it leads, so a lagging server does not mislead it", async () => {
    const scene = new Scene();
    const [a, b] = (await scene.lineUp("a", "b")) as [Contender, Contender];
    const { client, session } = await scene.open();
    const waiter = await find(session, "b");
    client.lagging = true;
    await a.withdraw("hand-over", signal);
    expect((await b.look(signal)).kind).toBe("held");
    expect(await session.evict("e", waiter, null, signal)).toBeNull();
    expect(client.log.filter((line) => line.startsWith("multi"))).toEqual([]);
  });

  it("puts the stead exactly where the evicted one stood, once, though the reply was lost", async () => {
    const scene = new Scene();
    const [a, b, c] = (await scene.lineUp("a", "b", "c")) as [Contender, Contender, Contender];
    const { client, session } = await scene.open();
    const leader = await find(session, "a");
    client.lose.add("multi");
    await expect(session.evict("e", leader, STEAD, signal)).rejects.toMatchObject({ code: "connection-lost" });
    const evicted = await session.evict("e", leader, STEAD, signal);
    expect(evicted?.stead?.slice(-10)).toBe(leader.entry.slice(-10));
    expect((await session.queue("e", signal)).map(({ id, session }) => `${id} ${session}`)).toEqual(["stead 0x4", "b 0x2", "c 0x3"]);
    const places = [await a.look(signal), await b.look(signal), await c.look(signal)];
    expect(places.map(({ kind }) => kind)).toEqual(["gone", "behind", "behind"]);
    expect(places[1]).toMatchObject({ predecessor: evicted?.stead });
    await session.evict("e", { entry: evicted?.stead as string, leading: false }, null, signal);
    expect((await b.look(signal)).kind).toBe("head");
  });

  it("refuses a stead where entries are ordered by creation: it would be the last", async () => {
    const scene = new Scene();
    scene.ensemble.sequence = 2 ** 31 - 2;
    await scene.lineUp("a", "b", "c");
    const { session } = await scene.open();
    const leader = await find(session, "a");
    await expect(session.evict("e", leader, STEAD, signal)).rejects.toMatchObject({ code: "unsupported" });
    expect((await find(session, "a")).leading).toBe(true);
    expect(await session.evict("e", leader, null, signal)).toEqual({ stead: null });
  });
});

describe("a survey", () => {
  it("takes three reads, however many stand", async () => {
    const scene = new Scene();
    await scene.lineUp("a", ...Array.from({ length: 20 }, (_, n) => `b${n}`));
    const { client, session } = await scene.open();
    expect(await session.survey("e", signal)).toMatchObject({ leader: { id: "a" }, waiting: 20 });
    expect(client.log).toHaveLength(3);
  });

  it("is no election where neither candidates nor a record of a term are", async () => {
    const scene = new Scene();
    const { session } = await scene.open();
    const make = (path: string, text = "") =>
      scene.ensemble.commit([{ op: "create", path, data: Buffer.from(text), mode: "persistent" }], 1n);
    for (const path of ["/tenure", "/tenure/e", "/tenure/e/term"]) make(path, "not ours");
    expect(await session.survey("e", signal)).toBeNull();
    make(CANDIDATES);
    expect(await session.survey("e", signal)).toEqual({ leader: null, waiting: 0 });
  });
});
