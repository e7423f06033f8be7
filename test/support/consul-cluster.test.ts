import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsulCluster, startConsulCluster } from "./consul-cluster.js";
import { until } from "./wait-for.js";

describe("a cluster of three Consul servers", () => {
  let cluster: ConsulCluster;
  beforeAll(async () => {
    cluster = await startConsulCluster();
  });
  afterAll(() => cluster?.dispose());

  it("has a leader and two followers, which tell the same", async () => {
    const leader = await cluster.leader();
    const followers = await cluster.followers();
    expect(new Set([leader, ...followers])).toEqual(new Set(cluster.servers));
    await leader.ask("PUT", "/v1/kv/a", { body: "1" });
    for (const follower of followers) expect((await follower.call("GET", "/v1/kv/a?raw&consistent")).text).toBe("1");
  });

  it("replaces a leader that is killed, and takes it back; the sessions of its agent live on", async () => {
    const killed = await cluster.leader();
    const body = { TTL: "60s", Checks: [], Node: killed.name };
    const { ID } = await killed.ask<{ ID: string }>("PUT", "/v1/session/create", { body });
    await killed.kill();
    const leader = await cluster.leader();
    expect(leader).not.toBe(killed);
    await leader.serving();
    expect(await leader.ask("GET", `/v1/session/info/${ID}?consistent`)).toHaveLength(1);
    await killed.start();
    expect((await cluster.followers()).length).toBe(2);
  });

  it("replaces a leader that is paused, which follows when it goes on", async () => {
    const paused = await cluster.leader();
    paused.pause();
    const leader = await cluster.leader();
    expect(leader).not.toBe(paused);
    expect(await cluster.followers()).toHaveLength(1);
    await leader.serving();
    paused.resume();
    await until(async () => (await cluster.followers()).includes(paused), { timeout: 20_000, what: "it follows" });
    await paused.serving();
  });
});
