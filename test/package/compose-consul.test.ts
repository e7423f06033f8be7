import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { consul } from "../support/consul.js";
import { startConsulCluster } from "../support/consul-cluster.js";
import { until } from "../support/wait-for.js";

interface Service {
  image: string;
  hostname: string;
  command: string[];
  environment: { CONSUL_LOCAL_CONFIG: string };
  healthcheck: { test: string[]; interval: string; timeout: string; retries: number; start_period: string };
  ports: string[];
  volumes: string[];
}

const FILE = "docker/compose.consul.yml";
const compose = parse(readFileSync(FILE, "utf8"), { merge: true }) as { services: Record<string, Service>; volumes: Record<string, null> };
const services = Object.entries(compose.services);
const first = Object.values(compose.services)[0] as Service;
const config = JSON.parse(first.environment.CONSUL_LOCAL_CONFIG) as Record<string, unknown>;
const run = promisify(execFile);

describe(FILE, () => {
  it("describes three pinned servers that know each other", () => {
    const names = services.map(([name]) => name);
    expect(config).toMatchObject({ server: true, bootstrap_expect: 3, retry_join: names });
    for (const [index, [name, service]] of services.entries()) {
      expect(service).toMatchObject({ image: "hashicorp/consul:1.14.11", hostname: name, command: ["agent", `-node=${name}`] });
      expect(JSON.parse(service.environment.CONSUL_LOCAL_CONFIG)).toEqual(config);
      expect(service.ports).toEqual([`127.0.0.1:${8500 + 10 * index}:8500`]);
    }
  });

  it("keeps the data of each server in a volume of its own, all declared", () => {
    const volumes = services.map(([, service]) => service.volumes);
    expect(volumes).toEqual([["data1:/consul/data"], ["data2:/consul/data"], ["data3:/consul/data"]]);
    expect(Object.keys(compose.volumes)).toEqual(["data1", "data2", "data3"]);
  });

  it("gives times in the way compose reads them", () => {
    for (const [, { healthcheck }] of services) {
      expect(healthcheck).toMatchObject({ interval: "5s", timeout: "3s", retries: 6, start_period: "30s" });
    }
  });

  it("makes a cluster of its settings, whose health check passes with a majority and fails without", async () => {
    // Names and addresses are those of this machine; all else is as the containers have it.
    const { retry_join: _, client_addr: __, ...settings } = config;
    await using cluster = await startConsulCluster({ config: settings });
    const [one, two, three] = cluster.servers;
    const becomes = (state: string, what: string) =>
      until(async () => (await check(one!.address)) === state, { timeout: 30_000, what: `${what} is ${state}` });
    await becomes("healthy", "one of three");
    const self = await one!.ask<{ DebugConfig: Record<string, unknown> }>("GET", "/v1/agent/self");
    expect(self.DebugConfig).toMatchObject({ AutopilotCleanupDeadServers: false, HTTPMaxConnsPerClient: 1000 });
    await two!.kill();
    await becomes("healthy", "one of two");
    await three!.kill();
    await becomes("unhealthy", "a server that is alone");
  });

  it("has a health check that passes on a serving server, and fails on none", async () => {
    expect(await check(consul)).toBe("healthy");
    expect(await check("127.0.0.1:1")).toBe("unhealthy");
  });

  it("is accepted by docker compose, where that is installed", async ({ skip }) => {
    const installed = await run("docker", ["compose", "version"]).then(
      () => true,
      () => false,
    );
    if (!installed) skip("docker compose is not installed");
    await run("docker", ["compose", "-f", FILE, "config", "--quiet"]);
  });
});

/** Runs the health check as a container does, but with the tests' own Consul and on `address`. */
async function check(address: string): Promise<"healthy" | "unhealthy"> {
  const [kind, command, ...args] = first.healthcheck.test as [string, string, ...string[]];
  expect([kind, command]).toEqual(["CMD", "consul"]);
  return run(process.env.CONSUL_BIN as string, args, { timeout: 3_000, env: { PATH: process.env.PATH, CONSUL_HTTP_ADDR: address } }).then(
    () => "healthy",
    () => "unhealthy",
  );
}
