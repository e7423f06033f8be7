import { expect, it } from "vitest";
import type { Watch } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { readOptions } from "../../adapters/zookeeper/zookeeper-options.js";
import { ZooKeeperStore } from "../../adapters/zookeeper/zookeeper-store.js";
import { systemClock } from "../../src/clock.js";
import { until } from "../support/wait-for.js";
import { FakeClient, FakeEnsemble } from "./fake-zookeeper.js";

const signal = new AbortController().signal;

it("who joins just after the list that showed nobody, so that its event comes with the list, is handed the seat", async () => {
  const ensemble = new FakeEnsemble();
  const candidate = async (id: string, session: bigint) => {
    const client = new FakeClient(ensemble, session);
    const opened = await new ZooKeeperStore(readOptions("zookeeper://fake"), async () => client).open({ clock: systemClock }, signal);
    return { client, contender: opened.contend("e", { id, metadata: {} }, null) };
  };
  const [a, b] = [await candidate("a", 1n), await candidate("b", 2n)];
  const place = await a.contender.look(signal);
  if (place.kind !== "head") throw new Error(place.kind);
  await a.contender.claim(place, signal);
  const watch = a.client.watch.bind(a.client);
  const lists: Watch[] = [];
  a.client.watch = (kind, path) => {
    const made = watch(kind, path);
    if (kind !== "list") return made;
    if (lists.push(made) > 1) return made;
    // Answered only once b has joined, with the list from before that; the event comes in the same turn.
    const joined = made.armed.then(() => b.contender.look(signal));
    return { armed: joined.then(() => made.armed), fired: joined.then(() => made.armed).then(() => {}), release: () => {} };
  };
  a.contender.unseated(signal).catch(() => {});
  await until(() => lists.length === 2, { what: "the leader reads who has joined" });
  await lists[1]?.armed;
  await new Promise((resolve) => setImmediate(resolve));
  a.client.log.length = 0;
  await a.contender.withdraw("hand-over", signal);
  expect(a.client.log).toEqual([expect.stringMatching(/^multi /)]);
  expect((await b.contender.look(signal)).kind).toBe("held");
});
