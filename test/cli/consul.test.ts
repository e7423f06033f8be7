import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { consul } from "../../adapters/consul/index.js";
import { Elector } from "../../src/index.js";
import { consul as server } from "../support/consul.js";
import { call } from "../support/consul-http.js";
import { startConsul } from "../support/consul-server.js";
import { freePort } from "../support/free-port.js";
import { fresh } from "../support/names.js";
import { until } from "../support/wait-for.js";
import { stamped } from "./fake-wrapper.js";
import { StampFile } from "./stamps.js";
import { disposeAll, Tenure, type TenureOptions } from "./tenure.js";

/** Milliseconds. */
const TTL = 4000;

let prefix: string;
let file: StampFile;
let electors: Elector[] = [];
beforeEach(() => {
  expect(inject("buildError")).toBe("");
  prefix = fresh("cli");
  file = new StampFile();
});
afterEach(async () => {
  await Promise.all(electors.map((elector) => elector.stop()));
  electors = [];
  await disposeAll();
  await until(() => file.survivors().length === 0, { what: "the end of every command" });
  file.dispose();
  await call(server, "DELETE", `/v1/kv/${prefix}/?recurse`);
});

const url = () => `consul://${server}/${prefix}?ttl=${TTL}ms&lockDelay=200ms`;

async function tenure(command: string, flags: readonly string[] = [], options?: TenureOptions) {
  const ran = new Tenure([command, "--store", url(), ...flags], options);
  const code = await ran.exit(40_000);
  return { code, stdout: ran.stdout, stderr: ran.stderr };
}

const stamper = (id: string, ...flags: string[]) =>
  new Tenure(["run", "--store", url(), "--election", "seat", "--id", id, ...flags, "--", process.execPath, ...file.command()]);
const running = (id: string) => stamped(file, "beat", `${id}/`);

function candidate(id: string): Elector {
  const elector = new Elector({ store: consul(url()), election: "seat", id });
  electors.push(elector);
  elector.start();
  return elector;
}

/** One after the other: the first leads. */
async function lineUp(...ids: string[]): Promise<Elector[]> {
  const line: Elector[] = [];
  for (const id of ids) {
    const elector = candidate(id);
    await until(() => elector.state === (line.length === 0 ? "leading" : "standby"), { what: `${id} stands` });
    line.push(elector);
  }
  return line;
}

describe("tenure on Consul", () => {
  it("runs the command where it leads, hands over at SIGTERM, and ends with the command's status", async () => {
    const a = stamper("a");
    await running("a");
    const b = stamper("b");
    await b.logged("standing for");
    a.kill("SIGTERM");
    await running("b");
    expect(await a.exit()).not.toBe(null);
    const ran = new Tenure(["run", "--store", url(), "--election", "other", "--", "sh", "-c", 'echo "$TENURE_TERM $TENURE_FENCE"; exit 5']);
    expect(await ran.exit()).toBe(5);
    expect(ran.stdout).toMatch(/^1 \d+\n$/);
  });

  it("kills the command and stands again when its seat is taken away by force", async () => {
    const a = stamper("a");
    await running("a");
    await call(server, "DELETE", `/v1/kv/${prefix}/seat/leader`);
    await a.logged("lost term 1: evicted");
    await a.logged("elected: term 2");
  });

  it("shows leader and queue", async () => {
    const [a] = await lineUp("a", "b");
    const status = await tenure("status", ["--election", "seat"]);
    expect([status.code, status.stderr]).toEqual([0, ""]);
    expect(status.stdout).toMatch(new RegExp(`\\nleader +a\\b[^]*fence +${a?.term?.token}\\b`));
    const { leader, queue } = JSON.parse((await tenure("status", ["--election", "seat", "--json"])).stdout);
    expect(leader).toMatchObject({ id: "a", number: 1, fence: a?.term?.token });
    expect(queue).toMatchObject([
      { id: "a", leading: true, session: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      { id: "b", leading: false },
    ]);
  });

  it("lists elections, and what is none", async () => {
    await lineUp("a", "b");
    await call(server, "PUT", `/v1/kv/${prefix}/litter`, { body: "x" });
    const { code, stdout } = await tenure("list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nseat +a +1 +\d+ +1\n/);
    expect(stdout).toMatch(/not tenure's: "litter"\n$/);
  });

  it("watches leaders come and go", async () => {
    const watch = new Tenure(["watch", "--store", url(), "--election", "seat", "--json"]);
    const told = () =>
      watch.stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    await until(() => told().length === 1, { what: "the first line" });
    const [a, b] = await lineUp("a", "b");
    await a?.stop();
    await b?.elected();
    await until(() => told().at(-1)?.leader?.id === "b", { what: "b in the lines" });
    expect(told()[0]).toMatchObject({ type: "leader", leader: null });
    watch.kill("SIGTERM");
    expect([await watch.exit(), watch.stderr]).toEqual([0, ""]);
  });

  it("evicts a waiter, and a leader when it is sure", async () => {
    const [a, b] = await lineUp("a", "b", "c");
    expect(await tenure("evict", ["--election", "seat", "--id", "c"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^evicted +c\n/),
    });
    const unsure = await tenure("evict", ["--election", "seat", "--leader"]);
    expect([unsure.code, unsure.stderr]).toEqual([64, expect.stringContaining("--yes")]);
    const before = a?.term?.fence as bigint;
    const { code, stdout } = await tenure("evict", ["--election", "seat", "--leader", "--yes", "--json"]);
    const told = JSON.parse(stdout);
    expect([code, told.settled, told.evicted.id, told.leader.id]).toEqual([0, true, "a", "b"]);
    expect(BigInt(told.leader.fence)).toBeGreaterThan(before);
    expect(b?.isLeader).toBe(true);
  });

  it("finds the agent and the token by Consul's own variables", async () => {
    const elsewhere = { CONSUL_HTTP_ADDR: server };
    const options = ["--store", `consul:///${prefix}?ttl=${TTL}ms`, "--election", "seat"];
    const ran = new Tenure(["run", ...options, "--", "echo", "led"], { env: elsewhere });
    expect([await ran.exit(), ran.stdout]).toEqual([0, "led\n"]);
    const refused = new Tenure(["status", ...options], { env: { CONSUL_HTTP_ADDR: "h:0" } });
    expect([await refused.exit(), refused.stderr]).toEqual([64, expect.stringMatching(/^tenure: CONSUL_HTTP_ADDR: [^\n]*\n$/)]);
  });
});

describe("mistakes on Consul are told in one line", () => {
  const one = (stderr: string) => {
    expect(stderr).toMatch(/^tenure: [^\n]+\n$/);
    expect(stderr).not.toMatch(/\n\s+at |node:internal/);
    return stderr;
  };

  it.each<[string, string, TenureOptions["env"], readonly string[]]>([
    ["a ttl without its unit", "consul://h?ttl=15", {}, ["ttl", '"15"', "5s"]],
    ["an option of ZooKeeper", "consul://h?sessionTimeout=15s", {}, ["sessionTimeout", "ttl"]],
    ["a lock-delay that no server grants", "consul://h?lockDelay=2m", {}, ["lockDelay", "1m", '"2m"']],
    ["a prefix that Consul would clean", "consul://h/a//b", {}, ["prefix", '"a//b"']],
    ["credentials of ZooKeeper", "consul://h", { TENURE_AUTH: "digest:a:hush" }, ["token:…", "TENURE_AUTH", "scheme digest"]],
    ["a token in the URL", "consul://h?token=hush", {}, ["does not belong in the store URL"]],
    ["an acl", "consul://h", { TENURE_ACL: "creator" }, ["acl", "ZooKeeper", "policies"]],
    ["a passphrase file that is not there", "consul://h", { TENURE_TLS_PASSPHRASE_FILE: "/none" }, ["TENURE_TLS_PASSPHRASE_FILE"]],
  ])("%s: 64", async (_, store, env, parts) => {
    const ran = new Tenure(["run", "--store", store, "--election", "e", "--", "true"], { env: env ?? {} });
    expect(await ran.exit()).toBe(64);
    for (const part of parts) expect(one(ran.stderr)).toContain(part);
    expect(ran.stderr).not.toContain("hush");
  });

  it("a key without its passphrase, which comes from where the command line has it: 64", async () => {
    const { Authority } = await import("../support/certificates.js");
    const sealed = new Authority("a CA").issue("me", { passphrase: "sesame street" });
    const folder = mkdtempSync(join(tmpdir(), "tenure-consul-key-"));
    try {
      for (const kind of ["cert", "key"] as const) writeFileSync(join(folder, kind), sealed[kind]);
      const env = { CONSUL_HTTP_SSL: "true", CONSUL_CLIENT_CERT: join(folder, "cert"), CONSUL_CLIENT_KEY: join(folder, "key") };
      const look = async (more: Readonly<Record<string, string>>) => {
        const ran = new Tenure(["status", "--store", `consul://127.0.0.1:${await freePort()}`, "--election", "e"], {
          env: { ...env, ...more },
        });
        return { code: await ran.exit(), stderr: one(ran.stderr) };
      };
      expect(await look({})).toMatchObject({ code: 64, stderr: expect.stringContaining("TENURE_TLS_PASSPHRASE: is missing") });
      expect(await look({ TENURE_TLS_PASSPHRASE: "sesame street" })).toMatchObject({ code: 69 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("an agent that is not there: 69", async () => {
    const store = `consul://127.0.0.1:${await freePort()}/app`;
    const given = new Tenure(["status", "--store", `${store}?tokenFile=/none`, "--election", "e"], { env: { TENURE_AUTH: "token:a" } });
    // What the command line is given replaces what the URL says.
    expect([await given.exit(), one(given.stderr)]).toEqual([69, expect.stringContaining("cannot be reached")]);
    for (const [name = "", ...rest] of [["status"], ["run", "--try", "--", "true"]]) {
      const ran = new Tenure([name, "--store", store, "--election", "e", ...rest]);
      expect(await ran.exit()).toBe(69);
      expect(ran.stderr).toMatch(/cannot be reached .*ECONNREFUSED.*check the address in --store/);
      if (name === "status") one(ran.stderr);
    }
  });

  it("a ttl below the servers' minimum: 78, with what to do", async () => {
    await using strict = await startConsul({ sessionTtlMin: "10s" });
    for (const [name = "", ...rest] of [["status"], ["run", "--", "true"], ["watch"], ["evict", "--leader", "--yes"]]) {
      const ran = new Tenure([name, "--store", `consul://${strict.address}/app?ttl=5s`, "--election", "e", ...rest]);
      expect(await ran.exit()).toBe(78);
      const problem = name === "run" ? ran.logs.at(-1)?.msg : one(ran.stderr);
      expect(problem).toMatch(/must be between \[10s=24h0m0s\]: choose a ttl in this range, or lower the servers' session_ttl_min/);
      expect(ran.logs.filter(({ level }) => level > 30).length).toBe(name === "run" ? 1 : 0);
    }
  });
});
