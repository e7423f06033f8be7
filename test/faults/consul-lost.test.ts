import { describe, expect, it } from "vitest";
import type { StoreError } from "../../src/errors.js";
import type { HttpProxy } from "../support/http-proxy.js";
import { cutBody, drop } from "../support/http-proxy-rules.js";
import * as requests from "./support/consul-requests.js";
import { Scene } from "./support/consul-scene.js";

/** Makes an attempt again until it succeeds, as the core does. Resolves to what the failures were. */
async function persist(attempt: () => Promise<unknown>): Promise<string[]> {
  const failures: string[] = [];
  for (;;) {
    try {
      await attempt();
      return failures;
    } catch (error) {
      failures.push((error as StoreError).code);
      if (failures.length > 3) throw error;
    }
  }
}

async function line(): Promise<{ scene: Scene; proxy: HttpProxy }> {
  // The package does not notice that the rest does not come: a time limit has to.
  const scene = new Scene({ requestTimeout: 3000 });
  return { scene, proxy: await scene.proxy() };
}

describe.concurrent.each([
  ["all of it", drop, "connection-lost"],
  ["half of it", cutBody, "timeout"],
])("a reply that is lost (%s)", (_, lost, code) => {
  it("to a join: there is one place", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const leader = await scene.leader("leader");
    const candidate = scene.contend("candidate", await scene.open(proxy));
    proxy.rule(requests.join, lost);
    expect(await persist(() => candidate.look())).toEqual([code]);
    expect(candidate.place?.kind).toBe("behind");
    expect(await scene.queue()).toEqual(["candidate"]);
    await leader.withdraw();
    await scene.served(candidate);
  });

  it("to a join whose candidate withdraws: there is no place", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    await scene.leader("leader");
    const candidate = scene.contend("candidate", await scene.open(proxy));
    proxy.rule(requests.join, lost);
    await expect(candidate.look()).rejects.toMatchObject({ code });
    await candidate.withdraw();
    expect(await scene.queue()).toEqual([]);
  });

  it("to a join, and to the raising of the epoch: there is one place", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    await scene.leader("leader");
    const candidate = scene.contend("candidate", await scene.open(proxy));
    proxy.rule(requests.join, lost);
    const raised = proxy.rule(requests.epoch, lost);
    expect(await persist(() => candidate.look())).toEqual([code, code]);
    expect(raised.hits).toBe(1);
    expect(await scene.queue()).toEqual(["candidate"]);
    // The epoch that it knows is an old one: another join on that session finds out.
    await scene.join("another", candidate.session);
    expect(await scene.queue()).toEqual(["candidate", "another"]);
  });

  it("to a join whose place was taken away: whoever waits behind it hears of it", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const leader = await scene.leader("leader");
    const candidate = scene.contend("candidate", await scene.open(proxy));
    proxy.rule(requests.join, lost);
    await expect(candidate.look()).rejects.toMatchObject({ code });
    const follower = await scene.join("follower");
    const [place] = (await scene.keys("queue/")).filter(({ session }) => session === candidate.session.id);
    await scene.erase(place!.key);
    expect((await candidate.look()).kind).toBe("behind");
    await follower.moved();
    await follower.look();
    await scene.destroy(leader.session);
    await scene.served(follower);
  });

  it("to a claim: the look after it finds the seat held, with its fence", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const candidate = await scene.join("candidate", proxy);
    proxy.rule(requests.claim, lost);
    await expect(candidate.claim()).rejects.toMatchObject({ code });
    const { fence } = await candidate.held();
    expect(fence).toBe(await scene.fence());
    expect(await scene.queue()).toEqual([]);
  });

  it("to a claim whose candidate withdraws: the seat goes to the next", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const candidate = await scene.join("candidate", proxy);
    const next = await scene.join("next");
    proxy.rule(requests.claim, lost);
    await expect(candidate.claim()).rejects.toMatchObject({ code });
    await candidate.withdraw();
    await scene.served(next);
    expect(await scene.holder()).toBe(next.session.id);
  });

  it("to a hand-over: the next one leads, and nobody else", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const leader = await scene.leader("leader", proxy);
    const [next, last] = [await scene.join("next"), await scene.join("last")];
    proxy.rule(requests.handOver, lost);
    expect(await persist(() => leader.withdraw())).toEqual([code]);
    const fence = await scene.served(next);
    expect(await scene.fence()).toBe(fence);
    expect(await scene.queue()).toEqual(["last"]);
    await next.withdraw();
    expect(await scene.served(last)).toBeGreaterThan(fence);
  });

  it("to the freeing of a seat: it is free, and whoever has joined meanwhile takes it", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const leader = await scene.leader("leader", proxy);
    await leader.contender.prepare(scene.signal);
    const waiter = await scene.join("waiter");
    proxy.rule(requests.free, lost);
    expect(await persist(() => leader.withdraw("free"))).toEqual([code]);
    await scene.served(waiter);
  });

  it("to the withdrawal of a waiter: its follower hears of it", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const leader = await scene.leader("leader");
    const [middle, last] = [await scene.join("middle", proxy), await scene.join("last")];
    proxy.rule(requests.withdrawal, lost);
    expect(await persist(() => middle.withdraw())).toEqual([code]);
    expect(await scene.queue()).toEqual(["last"]);
    await last.moved();
    await last.look();
    // It waits for the leader now: its end is all that wakes it.
    await scene.destroy(leader.session);
    await scene.served(last);
  });

  it("to a letter: it is written again", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    const leader = await scene.leader("leader");
    const [middle, last] = [await scene.join("middle", proxy), await scene.join("last")];
    const letter = proxy.rule(requests.letter, lost);
    expect(await persist(() => middle.withdraw())).toEqual([code]);
    expect(letter.hits).toBe(1);
    await last.moved();
    await last.look();
    await scene.destroy(leader.session);
    await scene.served(last);
  });

  it("to the making of a session, or of its keys: nothing is left, and the next try succeeds", async () => {
    const { scene, proxy } = await line();
    await using _scene = scene;
    proxy.rule(requests.create, lost);
    await expect(scene.open(proxy)).rejects.toMatchObject({ code });
    proxy.rule(requests.sessionKeys, lost);
    await expect(scene.open(proxy)).rejects.toMatchObject({ code });
    expect(await scene.list(`${scene.prefix}/`)).toEqual([]);
    const candidate = await scene.join("candidate", proxy);
    expect(candidate.place?.kind).toBe("head");
  });
});
