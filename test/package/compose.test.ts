import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, inject, it } from "vitest";
import { parse } from "yaml";
import { PATIENCE } from "../support/wait-for.js";
import { startZooKeeper } from "../support/zookeeper-server.js";

interface Service {
  image: string;
  hostname: string;
  healthcheck: { test: string[]; interval: string; timeout: string; retries: number; start_period: string };
  environment: Record<string, string>;
  ports: string[];
  volumes: string[];
}

const FILE = "docker/compose.zookeeper.yml";
const text = readFileSync(FILE, "utf8");
const compose = parse(text, { merge: true }) as { services: Record<string, Service>; volumes: Record<string, null> };
const services = Object.entries(compose.services);
const first = Object.values(compose.services)[0] as Service;
const run = promisify(execFile);

describe(FILE, () => {
  it("describes three pinned servers that know each other", () => {
    expect(services).toHaveLength(3);
    const peers = services.map(([name], index) => `server.${index + 1}=${name}:2888:3888;2181`).join(" ");
    for (const [index, [name, service]] of services.entries()) {
      expect(service).toMatchObject({ image: "zookeeper:3.9.5", hostname: name });
      expect(service.environment).toMatchObject({ ZOO_MY_ID: String(index + 1), ZOO_SERVERS: peers });
      expect(Object.values(service.environment).filter((value) => typeof value !== "string")).toEqual([]);
      expect(service.ports).toEqual([`127.0.0.1:${2181 + index}:2181`]);
    }
  });

  it("keeps the data of each server in volumes of its own, all declared", () => {
    const mounts = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(":") as [string, string]));
    expect(services.map(([, { volumes }]) => volumes.map((volume) => volume.split(":")[1]))).toEqual(Array(3).fill(["/data", "/datalog"]));
    expect(new Set(mounts.map(([volume]) => volume)).size).toBe(6);
    expect(mounts.map(([volume]) => volume).sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  it("gives times in the way compose reads them", () => {
    for (const [, { healthcheck }] of services) {
      expect(healthcheck).toMatchObject({ interval: "5s", timeout: "3s", retries: 6, start_period: "30s" });
    }
  });

  it("starts a server with the settings that the image makes of it", async () => {
    // The image's start script writes these variables into zoo.cfg; standing alone needs no peers.
    const settings = first.environment;
    await using server = await startZooKeeper({
      tickTime: Number(settings.ZOO_TICK_TIME),
      config: {
        initLimit: settings.ZOO_INIT_LIMIT as string,
        syncLimit: settings.ZOO_SYNC_LIMIT as string,
        maxClientCnxns: settings.ZOO_MAX_CLIENT_CNXNS as string,
        "autopurge.purgeInterval": settings.ZOO_AUTOPURGE_PURGEINTERVAL as string,
        "autopurge.snapRetainCount": settings.ZOO_AUTOPURGE_SNAPRETAINCOUNT as string,
        "4lw.commands.whitelist": settings.ZOO_4LW_COMMANDS_WHITELIST as string,
      },
    });
    const told = await server.fourLetter("conf");
    expect(told).toContain("not in the whitelist");
    await expect(check(server.address)).resolves.toBe("healthy");
  });

  it("has a health check that passes on a serving server, and fails on none", async () => {
    expect(await check(inject("zookeeper"))).toBe("healthy");
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

/** Runs the health check as a container does, but on `address`. */
async function check(address: string): Promise<"healthy" | "unhealthy"> {
  const [kind, command, ...args] = first.healthcheck.test as [string, string, ...string[]];
  expect(kind).toBe("CMD");
  return run(
    command,
    args.map((arg) => arg.replace("127.0.0.1/2181", address.replace(":", "/"))),
    { timeout: PATIENCE },
  ).then(
    () => "healthy",
    () => "unhealthy",
  );
}
