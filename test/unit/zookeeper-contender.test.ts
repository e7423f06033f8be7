import { describe, expect, it } from "vitest";
import { readOptions } from "../../adapters/zookeeper/zookeeper-options.js";
import type { ZooKeeperBehind } from "../../adapters/zookeeper/zookeeper-places.js";
import { writeTerm } from "../../adapters/zookeeper/zookeeper-record.js";
import { ZooKeeperStore } from "../../adapters/zookeeper/zookeeper-store.js";
import { systemClock } from "../../src/clock.js";
import type { Contender, HeldPlace, Place } from "../../src/store.js";
import { FakeClient, FakeEnsemble } from "./fake-zookeeper.js";

const signal = new AbortController().signal;
const CANDIDATES = "/tenure/e/candidates";
const TERM = "/tenure/e/term";

class Scene {
  readonly ensemble = new FakeEnsemble();
  #sessions = 0n;

  async candidate(id: string): Promise<{ client: FakeClient; contender: Contender }> {
    const client = new FakeClient(this.ensemble, ++this.#sessions);
    const store = new ZooKeeperStore(readOptions("zookeeper://fake"), async () => client);
    const session = await store.open({ clock: systemClock }, signal);
    return { client, contender: session.contend("e", { id, metadata: {} }, null) };
  }

  get entries(): string[] {
    return [...this.ensemble.at(this.ensemble.zxid).keys()].filter((path) => path.startsWith(`${CANDIDATES}/`));
  }
}

async function lead(contender: Contender): Promise<HeldPlace> {
  const place = await contender.look(signal);
  if (place.kind !== "head") throw new Error(`expected head, got ${place.kind}`);
  const held = await contender.claim(place, signal);
  if (held.kind !== "held") throw new Error("refused");
  return held;
}

const kinds = async (...contenders: Contender[]): Promise<Place["kind"][]> => {
  const places: Place["kind"][] = [];
  for (const contender of contenders) places.push((await contender.look(signal)).kind);
  return places;
};

describe("the flight of a look", () => {
  it("creates, reads the term, then lists, in one flight", async () => {
    const scene = new Scene();
    await (await scene.candidate("a")).contender.look(signal);
    const { client, contender } = await scene.candidate("b");
    let answered = 0;
    const create = client.create.bind(client);
    client.create = async (...request) => {
      const made = await create(...request);
      await new Promise((resolve) => setImmediate(resolve));
      answered = client.log.length;
      return made;
    };
    expect((await contender.look(signal)).kind).toBe("behind");
    const guid = /create (\S+)-$/.exec(client.log[0] ?? "")?.[1];
    expect(client.log).toEqual([`create ${guid}-`, `getData ${TERM}`, `getChildren ${CANDIDATES}`]);
    expect(answered).toBe(3);
    client.log.length = 0;
    const again = contender.look(signal);
    expect(client.log).toEqual([`getData ${TERM}`, `getChildren ${CANDIDATES}`]);
    await again;
  });

  it("makes a new election in one transaction; what is missing above it from the bottom up, and the term with version 1 in one transaction", async () => {
    const scene = new Scene();
    const { client, contender } = await scene.candidate("a");
    expect(await contender.look(signal)).toMatchObject({ kind: "head", version: 1 });
    const own = scene.entries[0]?.replace(/-.*/, "-");
    const look = [`getData ${TERM}`, `getChildren ${CANDIDATES}`];
    const parents = [CANDIDATES, "/tenure/e", "/tenure", "/tenure/e", CANDIDATES].map((path) => `create ${path}`);
    const whole = `multi /tenure/e ${CANDIDATES} ${TERM} ${TERM}`;
    expect(client.log).toEqual([`create ${own}`, ...look, whole, ...parents, `create ${own}`, ...look, `multi ${TERM} ${TERM}`, ...look]);
    const next = new FakeClient(scene.ensemble, 99n);
    const store = new ZooKeeperStore(readOptions("zookeeper://fake"), async () => next);
    const other = (await store.open({ clock: systemClock }, signal)).contend("f", { id: "b", metadata: {} }, null);
    expect(await other.look(signal)).toMatchObject({ kind: "head", version: 1 });
    expect(next.log.filter((line) => /^(create|multi)/.test(line)).map((line) => line.replace(/ .*/, ""))).toEqual([
      "create",
      "multi",
      "create",
    ]);
  });

  it("cannot mistake a seat that is handed on between its two reads for a free one", async () => {
    const scene = new Scene();
    const [a, b, c] = [await scene.candidate("a"), await scene.candidate("b"), await scene.candidate("c")];
    await lead(a.contender);
    await kinds(b.contender, c.contender);
    let handedOver = false;
    b.client.before = (line) => {
      if (handedOver || !line.startsWith("getChildren")) return;
      handedOver = true;
      const [own, next] = scene.entries as [string, string];
      const data = writeTerm(next.slice(CANDIDATES.length + 1), 0, {});
      scene.ensemble.commit(
        [
          { op: "delete", path: own, version: -1 },
          { op: "setData", path: TERM, data, version: -1 },
        ],
        1n,
      );
    };
    const place = await b.contender.look(signal);
    expect(handedOver).toBe(true);
    expect(place.kind).toBe("head");
    if (place.kind === "head") expect(await b.contender.claim(place, signal)).toEqual({ kind: "refused", wait: 0 });
    expect(await kinds(b.contender, c.contender)).toEqual(["held", "behind"]);
  });

  it("puts the sync before the look-up of an entry whose create was not answered, in one flight", async () => {
    const scene = new Scene();
    await lead((await scene.candidate("a")).contender);
    const { client, contender } = await scene.candidate("b");
    client.lagging = true;
    await client.sync("/");
    client.lose.add("create");
    await expect(contender.look(signal)).rejects.toMatchObject({ code: "connection-lost" });
    client.log.length = 0;
    const look = contender.look(signal);
    expect(client.log).toEqual([`sync ${CANDIDATES}`, `getData ${TERM}`, `getChildren ${CANDIDATES}`]);
    expect((await look).kind).toBe("behind");
    expect(client.log.filter((line) => line.startsWith("create"))).toEqual([]);
    expect(scene.entries).toHaveLength(2);
  });

  it("finds such an entry also to withdraw it, from a server that lags", async () => {
    const scene = new Scene();
    await lead((await scene.candidate("a")).contender);
    const { client, contender } = await scene.candidate("b");
    client.lagging = true;
    await client.sync("/");
    client.lose.add("create");
    await expect(contender.look(signal)).rejects.toMatchObject({ code: "connection-lost" });
    await contender.withdraw("hand-over", signal);
    expect(scene.entries).toHaveLength(1);
  });

  it("syncs once, instead of spinning, when a lagging server lists an entry that is known to have gone", async () => {
    const scene = new Scene();
    const a = await scene.candidate("a");
    await lead(a.contender);
    const { client, contender } = await scene.candidate("b");
    const place = await contender.look(signal);
    await a.contender.withdraw("free", signal);
    await contender.moved(place, signal);
    // As after a reconnect to a server that is behind the one on which the watch was armed.
    const list = client.getChildren.bind(client);
    client.getChildren = async (path) => {
      const isCurrent = client.log.slice(before).some((line) => line.startsWith("sync"));
      const { children, stat } = await list(path);
      return { children: isCurrent ? children : [...children, (place as ZooKeeperBehind).predecessor], stat };
    };
    const before = client.log.length;
    expect((await contender.look(signal)).kind).toBe("head");
    expect(client.log.slice(before).filter((line) => line.startsWith("sync"))).toHaveLength(1);
    expect(client.log.length - before).toBe(6);
  });
});

describe("the order of the queue", () => {
  it.each([
    ["wraps behind the first", 2 ** 31 - 1],
    ["wraps behind the second", 2 ** 31 - 2],
    ["comes near its limit", 2 ** 31 - 2 ** 20],
    ["is negative", -5],
    ["has stopped", null],
  ])("is that of creation when the counter %s", async (_, sequence) => {
    const scene = new Scene();
    const early = await scene.candidate("early");
    await early.contender.look(signal);
    await early.contender.withdraw("free", signal);
    if (sequence !== null) scene.ensemble.sequence = sequence;
    const all = [await scene.candidate("b"), await scene.candidate("c"), await scene.candidate("d"), await scene.candidate("e")];
    const [b, c, d, e] = all.map(({ contender }) => contender) as [Contender, Contender, Contender, Contender];
    if (sequence === null) {
      for (const { client } of all) client.before = (line) => void (line.startsWith("create") && (scene.ensemble.sequence = 2 ** 31 - 1));
    }
    const first = await lead(b);
    expect(await kinds(c, d, e, b)).toEqual(["behind", "behind", "behind", "held"]);
    await b.withdraw("free", signal);
    expect(await kinds(e, d, c)).toEqual(["behind", "behind", "head"]);
    await lead(c);
    await c.withdraw("hand-over", signal);
    expect(await kinds(e, d)).toEqual(["behind", "held"]);
    expect((await d.look(signal)) as HeldPlace).toMatchObject({ number: first.number + 2 });
  });
});

describe("the hand-over", () => {
  it("is one transaction, prepared before: check the next, delete mine, write the term", async () => {
    const scene = new Scene();
    const a = await scene.candidate("a");
    await lead(a.contender);
    const b = await scene.candidate("b");
    await b.contender.look(signal);
    await a.contender.prepare(signal);
    a.client.log.length = 0;
    await a.contender.withdraw("hand-over", signal);
    expect(a.client.log).toHaveLength(1);
    const [own, next] =
      [a, b]
        .map(({ client }) => client.log)[0]?.[0]
        ?.split(" ")
        .slice(1) ?? [];
    expect(a.client.log[0]).toBe(`multi ${own} ${next} ${TERM}`);
    expect(scene.entries).toEqual([own]);
  });

  it("goes to a plain delete when the next one went away twice", async () => {
    const scene = new Scene();
    const a = await scene.candidate("a");
    await lead(a.contender);
    const waiters = [await scene.candidate("b"), await scene.candidate("c"), await scene.candidate("d")];
    await kinds(...waiters.map(({ contender }) => contender));
    await a.contender.prepare(signal);
    let gone = 0;
    a.client.before = (line) => {
      if (!line.startsWith("multi") || gone === 2) return;
      gone++;
      scene.ensemble.commit([{ op: "delete", path: scene.entries[1] as string, version: -1 }], 9n);
    };
    await a.contender.withdraw("hand-over", signal);
    expect(gone).toBe(2);
    expect(a.client.log.at(-1)).toMatch(/^delete /);
    expect(await kinds((waiters[2] as (typeof waiters)[0]).contender)).toEqual(["head"]);
  });
});
