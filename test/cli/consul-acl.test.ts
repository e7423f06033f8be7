import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { consul } from "../../adapters/consul/index.js";
import { Elector } from "../../src/index.js";
import { type ConsulServer, startConsul } from "../support/consul-server.js";
import { fresh } from "../support/names.js";
import { until } from "../support/wait-for.js";
import { disposeAll, Tenure } from "./tenure.js";

const POLICY = readFileSync(fileURLToPath(new URL("../../docker/consul-policy.hcl", import.meta.url)), "utf8");
const MANAGEMENT = "5d3f8c9a-1111-4222-8333-944445555666";

let server: ConsulServer;
let prefix: string;
let electors: Elector[] = [];
beforeAll(async () => {
  expect(inject("buildError")).toBe("");
  server = await startConsul({ managementToken: MANAGEMENT });
});
beforeEach(() => {
  prefix = fresh("acl");
});
afterEach(async () => {
  await Promise.all(electors.map((elector) => elector.stop()));
  electors = [];
  await disposeAll();
});
afterAll(() => server?.dispose());

/** A token with a policy of these rules. */
async function tokenWith(rules: string): Promise<string> {
  const name = fresh("policy");
  await server.ask("PUT", "/v1/acl/policy", { body: { Name: name, Rules: rules } });
  return (await server.ask<{ SecretID: string }>("PUT", "/v1/acl/token", { body: { Policies: [{ Name: name }] } })).SecretID;
}

const url = (more = "") => `consul://${server.address}/${prefix}?ttl=4s&lockDelay=200ms${more}`;

/** Runs `tenure` to its end. */
async function tenure(token: string, command: readonly string[], more = "") {
  const [name = "", ...args] = command;
  const election = name === "list" ? [] : ["--election", "seat"];
  const ran = new Tenure([name, "--store", url(more), ...election, ...args], { env: { TENURE_AUTH: `token:${token}` } });
  const code = await ran.exit();
  return { code, stdout: ran.stdout, stderr: ran.stderr, logs: ran.logs };
}

function candidate(token: string, id: string): Elector {
  const elector = new Elector({
    store: consul({ address: server.address, prefix, ttl: 4000, lockDelay: 200, token }),
    election: "seat",
    id,
  });
  electors.push(elector);
  elector.start();
  return elector;
}

const rule = (what: string, policy: string) => `${what} { policy = "${policy}" }\n`;
const SESSION = rule('session_prefix ""', "write");
const keys = (below: string, policy: string) => rule(`key_prefix "${prefix}/${below}"`, policy);

describe("a token with the policy of docker/consul-policy.hcl", () => {
  it("elects, hands over, withdraws, observes, lists and evicts", async () => {
    const token = await tokenWith(POLICY.replace('"tenure/"', `"${prefix}/"`));
    const [a, b] = [candidate(token, "a"), candidate(token, "b")];
    const first = await Promise.race([a.elected(), b.elected()]);
    const [leader, other] = a.term === first ? [a, b] : [b, a];
    await until(() => other.state === "standby", { what: "the other waits" });
    await leader.stop();
    await other.elected();
    const ran = await tenure(token, ["evict", "--leader", "--yes", "--now"]);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`^evicted +${other.id}, which led `)) });
    await other.stop();
    expect(await tenure(token, ["run", "--", "echo", "led"])).toMatchObject({ code: 0, stdout: "led\n" });
    expect(await tenure(token, ["status"])).toMatchObject({ code: 1, stderr: "" });
    expect(await tenure(token, ["list"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nseat +none/) });
    expect(await tenure(token, ["watch", "--alert-after", "1s"])).toMatchObject({ code: 2 });
  });

  it("makes a node of its own with what the file has for that, and uses one that is there without", async () => {
    const node = fresh("node");
    const commented = POLICY.replace('"tenure/"', `"${prefix}/"`).replaceAll(/^# (node| {2}policy|\})/gm, "$1");
    const more = `&node=${node}`;
    const maker = await tokenWith(commented.replace('node "tenure"', `node "${node}"`));
    const reader = await tokenWith(POLICY.replace('"tenure/"', `"${prefix}/"`) + rule(`node "${node}"`, "read"));
    const refused = await tenure(reader, ["run", "--", "echo", "led"], more);
    expect(refused).toMatchObject({ code: 77, stdout: "" });
    expect(refused.logs.at(-1)?.msg).toMatch(/^catalog\/register: 403 Permission denied/);
    expect(await tenure(maker, ["run", "--", "echo", "led"], more)).toMatchObject({ code: 0, stdout: "led\n" });
    expect(await server.ask("GET", `/v1/catalog/node/${node}`)).toMatchObject({ Node: { Node: node } });
    expect(await tenure(reader, ["run", "--", "echo", "led"], more)).toMatchObject({ code: 0, stdout: "led\n" });
  });
});

describe("the least that the README lists", () => {
  it("for a candidate of one election, who looks on, and who lists them suffices", async () => {
    const one = await tokenWith(SESSION + keys("_", "write") + keys("seat/", "write"));
    const [a, b] = [candidate(one, "a"), candidate(one, "b")];
    await Promise.race([a.elected(), b.elected()]);
    await until(() => [a, b].some(({ state }) => state === "standby"), { what: "the other waits" });
    const onlooker = await tokenWith(SESSION + keys("_", "write") + keys("seat/", "read"));
    expect(await tenure(onlooker, ["status"])).toMatchObject({ code: 0, stderr: "" });
    const watch = new Tenure(["watch", "--store", url(), "--election", "seat"], { env: { TENURE_AUTH: `token:${onlooker}` } });
    await until(() => watch.stdout.includes("led by"), { what: "the first leader" });
    const [leader, other] = a.isLeader ? [a, b] : [b, a];
    await leader.stop();
    await until(() => watch.stdout.includes(`led by ${other.id}`), { what: "the next leader" });
    watch.kill("SIGTERM");
    expect([await watch.exit(), watch.stderr]).toEqual([0, ""]);
    expect(await tenure(one, ["evict", "--leader", "--yes"])).toMatchObject({ code: 0 });
    const lister = await tokenWith(SESSION + keys("_", "write") + keys("", "read"));
    expect(await tenure(lister, ["list"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nseat +\w/) });
  });

  it("for sessions is that of one node", async () => {
    const token = await tokenWith(rule(`session "${server.name}"`, "write") + keys("", "write"));
    expect(await tenure(token, ["run", "--", "echo", "led"])).toMatchObject({ code: 0, stdout: "led\n" });
  });
});

describe("what a token lacks is told in one error", () => {
  const lacks = (permission: string, key: string) => new RegExp(`^[^\\n]*Permission denied: [^\\n]*'${permission}' on "${key}[^\\n]*\\n?$`);
  it.each<[string, () => string, () => RegExp, boolean]>([
    ["everything", () => "", () => lacks("session:write", "consul"), false],
    ["sessions", () => keys("", "write"), () => lacks("session:write", "consul"), false],
    ["keys", () => SESSION, () => lacks("key:write", `${prefix}/_session/`), false],
    ["writing keys", () => SESSION + keys("", "read"), () => lacks("key:write", `${prefix}/_session/`), false],
    ["its mailbox", () => SESSION + keys("", "write") + keys("_mail", "deny"), () => lacks("key:write", `${prefix}/_mail/`), false],
    ["elections", () => SESSION + keys("_", "write") + keys("", "read"), () => lacks("key:write", `${prefix}/seat/queue/`), true],
    ["the queue", () => SESSION + keys("", "write") + keys("seat/queue", "read"), () => lacks("key:write", `${prefix}/seat/queue/`), true],
    ["the seat", () => SESSION + keys("", "write") + keys("seat/leader", "read"), () => lacks("key:write", `${prefix}/seat/leader`), true],
    ["the term", () => SESSION + keys("", "write") + keys("seat/term", "read"), () => lacks("key:write", `${prefix}/seat/term`), true],
  ])("%s", async (_, rules, says, looksOn) => {
    const token = await tokenWith(rules());
    const ran = await tenure(token, ["run", "--", "echo", "led"]);
    expect(ran).toMatchObject({ code: 77, stdout: "" });
    const problems = ran.logs.filter(({ level }) => level > 30).map(({ msg }) => msg);
    expect(problems).toEqual([expect.stringMatching(says())]);
    const status = await tenure(token, ["status"]);
    expect([status.code, status.stderr]).toEqual(looksOn ? [1, ""] : [77, expect.stringMatching(says())]);
    expect((await server.ask<string[]>("GET", `/v1/session/list`)).filter((session) => JSON.stringify(session).includes(prefix))).toEqual(
      [],
    );
  });

  // Consul would answer these with an empty list.
  it("reading, which would look as if nobody stood there", async () => {
    const token = await tokenWith(SESSION + keys("_", "write"));
    candidate(await tokenWith(SESSION + keys("", "write")), "a");
    await electors[0]?.elected();
    for (const command of [["status"], ["watch"], ["evict", "--leader", "--yes"], ["list"]]) {
      const ran = await tenure(token, command);
      expect([ran.code, ran.stdout]).toEqual([77, ""]);
      const where = command[0] === "list" ? `${prefix}/` : `${prefix}/seat/`;
      expect(ran.stderr).toMatch(new RegExp(`^[^\\n]*lacks the permission 'key:read' on all or some keys below "${where}"[^\\n]*\\n$`));
    }
  });

  it.each([
    [
      "a token that the servers do not know",
      "token:5d3f8c9a-0000-4222-8333-944445555666",
      /ACL not found: the servers do not know this token/,
    ],
    ["no token", "", /session\/create: 403 Permission denied[^\n]*: no token is given \(options token and tokenFile, CONSUL_HTTP_TOKEN\)/],
  ])("%s", async (_, auth, says) => {
    const env = auth ? { TENURE_AUTH: auth } : {};
    for (const name of ["status", "evict"]) {
      const ran = new Tenure([name, "--store", url(), "--election", "seat", ...(name === "evict" ? ["--leader", "--yes"] : [])], { env });
      expect(await ran.exit()).toBe(77);
      expect(ran.stderr).toMatch(/^[^\n]+\n$/);
      expect(ran.stderr).toMatch(says);
      expect(ran.stderr).not.toContain("5d3f8c9a");
    }
  });
});
