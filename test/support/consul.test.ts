import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { buildOnce } from "./build-lock.js";
import { Authority } from "./certificates.js";
import { consul } from "./consul.js";
import { call } from "./consul-http.js";
import { type ConsulServer, startConsul, startConsulAgent } from "./consul-server.js";
import { findConsul } from "./install-consul.js";
import { until } from "./wait-for.js";

describe("finding a Consul", () => {
  let folder: string;
  /** What it says meanwhile. */
  let said: string;
  beforeEach(() => {
    said = "";
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      said += text;
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenure-find-consul-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** A command `name` that does what the shell script says. */
  async function command(name: string, script: string): Promise<string> {
    const bin = await mkdtemp(join(folder, "bin-"));
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return bin;
  }

  it("takes CONSUL_BIN before the PATH, and refuses one that is none", async () => {
    const path = await command("consul", "echo Consul v9.8.7");
    const other = await command("other", "echo Consul v1.2.3");
    expect(await findConsul({ CONSUL_BIN: join(other, "other"), PATH: path })).toMatchObject({ command: join(other, "other") });
    expect(said).toBe("");
    expect(await findConsul({ PATH: path })).toEqual({ command: "consul", origin: "Consul 9.8.7 (PATH)" });
    expect(said).toMatch(/Taking Consul 9\.8\.7 from the PATH; tenure is tested with 1\.14\.11/);
    await expect(findConsul({ CONSUL_BIN: "/bin/true", PATH: path })).rejects.toThrow("CONSUL_BIN is /bin/true, but `/bin/true version`");
  });

  it("names what to install when there is none and nothing to build it with", async () => {
    await expect(findConsul({ XDG_CACHE_HOME: folder, PATH: "" })).rejects.toThrow(
      /Consul 1\.14\.11 is built with the Go toolchain, .* install Go 1\.20 .* Or install a Consul .* CONSUL_BIN/,
    );
  });

  it("builds one, and tells why that failed", async () => {
    const go = 'if [ "$1" = version ]; then echo go version go9.9; exit; fi';
    const failing = await command("go", `${go}; echo no network; exit 1`);
    const env = { XDG_CACHE_HOME: join(folder, "cache"), PATH: failing };
    await expect(findConsul(env)).rejects.toThrow(/`go build` in .*consul-server failed \(go9\.9; .*\):\nno network\nOr install/);
    const building = await command("go", `${go}; while [ "$1" != -o ]; do shift; done; echo made > "$2"`);
    const target = join(folder, "cache", "tenure", "consul-1.14.11", "consul");
    said = "";
    expect(await findConsul({ ...env, PATH: building })).toMatchObject({ command: target });
    expect(said).toMatch(/Building Consul 1\.14\.11 with go9\.9, once for this machine, into .*: 4 to 8 minutes[\s\S]*is built \(0 s\)/);
    expect(await findConsul({ ...env, PATH: failing })).toMatchObject({ command: target });
  });

  it("builds once when several ask for it", async () => {
    let [builds, waits, made] = [0, 0, false];
    const one = () =>
      buildOnce(
        join(folder, "lock"),
        () => made,
        () => waits++,
        async () => {
          builds++;
          await until(() => waits === 2, { what: "the others wait" });
          made = true;
        },
      );
    await Promise.all([one(), one(), one()]);
    expect([builds, waits]).toEqual([1, 2]);
  });

  it("builds in place of one that was killed at it", async () => {
    const lock = join(folder, "abandoned");
    await writeFile(lock, "");
    await utimes(lock, new Date(), new Date(Date.now() - 60_000));
    let made = false;
    const build = async () => {
      made = true;
    };
    await buildOnce(
      lock,
      () => made,
      () => {},
      build,
    );
    expect(made).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });

  it("builds what go.mod names", () => {
    const text = readFileSync(new URL("./consul-server/go.mod", import.meta.url), "utf8");
    expect(text).toContain("github.com/hashicorp/consul v1.14.11\n");
  });
});

describe("a Consul server", () => {
  it("keeps ports and data over restarts, counts raft entries, and is mute while paused", async () => {
    await using server = await startConsul();
    const before = await server.raftIndex();
    expect(await server.ask("PUT", "/v1/kv/kept", { body: "yes" })).toBe(true);
    expect(await server.raftIndex()).toBeGreaterThan(before);

    server.pause();
    await expect(server.call("GET", "/v1/kv/kept", { timeout: 300 })).rejects.toThrow("no answer within 300 ms: GET /v1/kv/kept");
    server.resume();
    expect((await server.call("GET", "/v1/kv/kept?raw")).text).toBe("yes");

    const pid = server.pid;
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect((await server.call("GET", "/v1/kv/kept?raw")).text).toBe("yes");
    server.pause();
    await server.kill();
    expect(server.running).toBe(false);
    await server.start();
    expect((await server.call("GET", "/v1/kv/kept?raw")).text).toBe("yes");
  });

  it("goes back to a snapshot", async () => {
    await using server = await startConsul();
    await server.ask("PUT", "/v1/kv/a", { body: "old" });
    const snapshot = await server.snapshot();
    await server.ask("PUT", "/v1/kv/a", { body: "new" });
    await server.restore(snapshot);
    expect((await server.call("GET", "/v1/kv/a?raw")).text).toBe("old");
    await server.serving();
    await expect(server.restore(Buffer.from("none"))).rejects.toThrow("not restored: 500");
  });

  it("grants sessions of one second", async () => {
    const session = (ttl: string) => call(consul, "PUT", "/v1/session/create", { body: { TTL: ttl, Checks: [], LockDelay: "0s" } });
    const created = await session("1s");
    expect(created.status).toBe(200);
    expect((await session("900ms")).text).toContain("must be between [1s=");
    const path = `/v1/session/info/${created.json<{ ID: string }>().ID}`;
    await until(async () => (await call(consul, "GET", path)).text.trim() === "[]", { what: "it expires" });
  });

  it("may have agents, whose sessions survive their crash but not their leaving", async () => {
    await using server = await startConsul();
    await using agent = await startConsulAgent(server);
    const body = { TTL: "60s", Checks: [] };
    const { ID } = await agent.ask<{ ID: string }>("PUT", "/v1/session/create", { body });
    const sessions = async () =>
      (await server.ask<{ ID: string; Node: string }[]>("GET", "/v1/session/list")).filter((one) => one.ID === ID);
    await agent.kill();
    await agent.start();
    expect(await sessions()).toMatchObject([{ Node: "agent" }]);
    await agent.stop();
    await until(async () => (await sessions()).length === 0, { what: "the session ends with its agent" });
  });

  it("tells why it could not start", async () => {
    await expect(startConsul({ config: { bind_addr: "" } })).rejects.toThrow(/ended at once:[\s\S]*bind_addr/);
  });
});

describe("a Consul server with ACLs, TLS, a unix socket and few connections", () => {
  const management = randomUUID();
  const authority = new Authority("consul-ca");
  const identity = authority.issue("server", { names: ["127.0.0.1", "localhost"] });
  let server: ConsulServer;
  beforeAll(async () => {
    const tls = { ...identity, clientCa: authority.cert };
    server = await startConsul({ managementToken: management, tls, unixSocket: true, maxConnections: 6 });
  });
  afterAll(() => server.dispose());

  it("refuses who has no token", async () => {
    expect((await call(server.address, "PUT", "/v1/kv/a")).status).toBe(403);
    expect((await call(server.address, "PUT", "/v1/kv/a", { token: randomUUID() })).text).toContain("ACL not found");
    expect((await call(server.address, "GET", "/v1/catalog/nodes")).json()).toEqual([]);
    expect(await server.ask("PUT", "/v1/kv/a")).toBe(true);
  });

  it("speaks TLS, with those whose certificate is right", async () => {
    const get = (client: object) =>
      new Promise<number>((resolve, reject) => {
        const [host, port] = server.secureAddress.split(":");
        const sent = secureRequest({ host, port, path: "/v1/status/leader", agent: false, ca: authority.cert, ...client }, (response) => {
          response.resume().once("end", () => resolve(response.statusCode as number));
        });
        sent.once("error", reject).end();
      });
    expect(await get(authority.issue("client"))).toBe(200);
    await expect(get({})).rejects.toThrow();
    await expect(get(new Authority("other").issue("client"))).rejects.toThrow();
  });

  it("serves its unix socket", async () => {
    const status = await new Promise((resolve, reject) => {
      request({ socketPath: server.socket, path: "/v1/status/leader", agent: false }, (response) => resolve(response.resume().statusCode))
        .once("error", reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it("refuses more connections than it may have", async () => {
    const [host, port] = server.address.split(":");
    const sockets: Socket[] = [];
    const refused = async () => {
      const socket = connect(Number(port), host).on("error", () => {});
      sockets.push(socket);
      await new Promise((resolve) => socket.once("connect", resolve));
      return (await server.call("GET", "/v1/status/leader")).status === 429;
    };
    await until(refused, { what: "the limit is reached" });
    expect(sockets.length).toBeGreaterThan(5);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await server.call("GET", "/v1/status/leader")).status === 200, { what: "there is room again" });
  });
});
