import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connectConsul } from "../../adapters/consul/client/consul-client.js";
import type { ClientOptions, ConsulClient } from "../../adapters/consul/client/consul-wire.js";
import { systemClock } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import { freePort } from "../support/free-port.js";
import { until } from "../support/wait-for.js";
import { ScriptedConsul } from "./support/scripted-consul.js";

/** Of requests, ms: for tests of answers that do not come. */
const SHORT = 300;

let server: ScriptedConsul;
let clients: ConsulClient[] = [];
beforeEach(async () => {
  server = await ScriptedConsul.start();
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  clients = [];
  await server[Symbol.asyncDispose]();
});

async function connect(given: Partial<ClientOptions> = {}): Promise<ConsulClient> {
  const nobody = { token: null, datacenter: null, namespace: null, partition: null, tls: null };
  const client = await connectConsul({ address: server.address, requestTimeout: 10_000, ...nobody, ...given }, systemClock);
  clients.push(client);
  return client;
}

const never = () => new AbortController().signal;
const session = { ttl: 10_000, lockDelay: 0, name: "x", node: null, checks: [] };

/** Every call there is. */
const CALLS: Readonly<Record<string, (client: ConsulClient, signal: AbortSignal) => Promise<unknown>>> = {
  createSession: (client, signal) => client.createSession(session, signal),
  renewSession: (client, signal) => client.renewSession("id", signal),
  destroySession: (client, signal) => client.destroySession("id", signal),
  transact: (client, signal) => client.transact([{ verb: "lock", key: "k", value: "v", session: "id" }], signal),
  query: (client, signal) => client.query({ key: "k", recurse: true, index: 7, wait: 100 }, signal),
  names: (client, signal) => client.names("p/", signal),
  registerNode: (client, signal) => client.registerNode("n", signal),
};
const calls = Object.entries(CALLS);

/** What it rejects with. */
const failure = (promise: Promise<unknown>): Promise<StoreError> =>
  promise.then(
    (value) => {
      throw new Error(`resolved to ${JSON.stringify(value)}`);
    },
    (error: StoreError) => error,
  );

describe("a call without an answer", () => {
  it.each(calls)("%s: times out in a black hole, closes its socket, and leaves nothing on the signal", async (_, call) => {
    const client = await connect({ requestTimeout: SHORT });
    const signal = never();
    const error = await failure(call(client, signal));
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: "timeout", transient: true, message: expect.stringContaining(server.address) });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await until(() => server.open.size === 0, { what: "the end of the connection" });
  });

  it.each(calls)("%s: settles when the connection dies or ends in mid-body", async (_, call) => {
    const client = await connect({ requestTimeout: SHORT });
    for (const end of ["destroy", "end"] as const) {
      server.script = ({ socket }, answer) => {
        answer.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        answer.write('[{"Key":', () => socket[end]());
      };
      const signal = never();
      const error = await failure(call(client, signal));
      expect(error).toBeInstanceOf(StoreError);
      expect(["timeout", "connection-lost"]).toContain(error.code);
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }
  });

  it.each(calls)("%s: rejects with the reason when it is given up, at once, and closes its socket", async (_, call) => {
    const client = await connect();
    const abort = new AbortController();
    const failed = failure(call(client, abort.signal));
    await until(() => server.asked.length === 1, { what: "the request" });
    const reason = new Error("not wanted");
    abort.abort(reason);
    expect(await failed).toBe(reason);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
    await until(() => server.open.size === 0, { what: "the end of the connection" });
    expect(await failure(call(client, AbortSignal.abort(reason)))).toBe(reason);
    expect(server.asked).toHaveLength(1);
  });

  it("is told from an agent that is not there", async () => {
    const client = await connect({ address: `http://127.0.0.1:${await freePort()}` });
    for (const [, call] of calls) expect(await failure(call(client, never()))).toMatchObject({ code: "unreachable" });
    const nowhere = await connect({ address: "unix:///no/such/socket" });
    expect(await failure(nowhere.names("p/", never()))).toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("unix:///no/such/socket"),
    });
  });
});

describe("destroy", () => {
  it("rejects whatever is under way, and closes every connection; nothing is sent after it", async () => {
    const client = await connect();
    const signals = calls.map(never);
    const failed = calls.map(([, call], index) => failure(call(client, signals[index] as AbortSignal)));
    await until(() => server.asked.length >= 6, { what: "the requests" });
    client.destroy();
    for (const error of await Promise.all(failed)) expect(error).toMatchObject({ code: "connection-lost" });
    for (const signal of signals) expect(getEventListeners(signal, "abort")).toEqual([]);
    await until(() => server.open.size === 0, { what: "the end of all connections" });
    const { length } = server.asked;
    for (const [, call] of calls) expect(await failure(call(client, never()))).toMatchObject({ code: "connection-lost" });
    expect(server.asked).toHaveLength(length);
    client.destroy();
  });
});

describe("connections", () => {
  it("are 4 at most for requests and 4 for renewals, which do not wait for each other, and one for each query", async () => {
    const client = await connect();
    const pending = [1, 2, 3, 4, 5, 6, 7, 8].flatMap(() => [
      client.names("p/", never()),
      client.renewSession("id", never()),
      client.query({ key: "k", recurse: false, index: 1, wait: 1000 }, never()),
    ]);
    for (const one of pending) one.catch(() => {});
    const seen = (part: string) => server.asked.filter(({ url }) => url.includes(part)).length;
    await until(() => server.asked.length === 16, { what: "what there are connections for" });
    // Whatever else was on its way would be there before this.
    const marker = await connect();
    server.answers(404);
    await marker.names("marker/", never());
    expect([seen("/kv/p/"), seen("/renew/"), seen("index=")]).toEqual([4, 4, 8]);
    expect(server.open.size).toBe(17);
    client.destroy();
  });

  it("are used again", async () => {
    server.answers(404, "", { "x-consul-index": "5" });
    const client = await connect();
    for (let n = 0; n < 5; n++) {
      await client.names("p/", never());
      await client.renewSession("id", never());
    }
    expect(new Set(server.asked.map(({ socket }) => socket)).size).toBe(2);
    expect(server.open.size).toBe(2);
    client.destroy();
    await until(() => server.open.size === 0, { what: "the end of connections that nothing is asked on" });
  });
});

describe("what is sent", () => {
  it("names datacenter, namespace and partition, has the token in a header, and never asks for stale answers", async () => {
    const client = await connect({ token: "secret", datacenter: "dc2", namespace: "ns1", partition: "p1" });
    server.answers(200, [], { "x-consul-index": "5" });
    for (const [name, call] of calls) {
      const { length } = server.asked;
      await call(client, never()).catch(() => {});
      expect(server.asked.length, name).toBeGreaterThan(length);
    }
    for (const { url, headers } of server.asked) {
      const query = new URL(url, server.address).searchParams;
      expect([query.get("dc"), query.get("ns"), query.get("partition"), query.get("stale"), query.get("token")]).toEqual([
        "dc2",
        "ns1",
        "p1",
        null,
        null,
      ]);
      expect(headers["x-consul-token"]).toBe("secret");
    }
    const transaction = server.asked.find(({ url }) => url.includes("/txn"));
    expect(JSON.parse(transaction?.body ?? "")).toMatchObject([{ KV: { Namespace: "ns1", Partition: "p1" } }]);
  });

  it("names none of them when they are not given (Consul refuses `ns` where there are none)", async () => {
    const client = await connect();
    server.answers(200, [], { "x-consul-index": "5" });
    for (const [, call] of calls) await call(client, never()).catch(() => {});
    for (const { url, body, headers } of server.asked) {
      expect(url).not.toMatch(/[?&](dc|ns|partition|stale)\b/);
      expect(body).not.toMatch(/Namespace|Partition/);
      expect(headers).not.toHaveProperty("x-consul-token");
    }
  });

  it("has the flags of api.Lock to the last digit", async () => {
    server.answers(200, { Results: [], Errors: null });
    const client = await connect();
    const values = { key: "k", value: "ü", session: "id" };
    await client.transact(
      [
        { verb: "lock", ...values },
        { verb: "unlock", ...values },
        { verb: "cas", key: "k", value: "", index: 3 },
      ],
      never(),
    );
    const body = server.asked[0]?.body ?? "";
    expect(body.match(/"Flags":3304740253564472344[,}]/g)).toHaveLength(2);
    expect(JSON.parse(body)[0].KV).toMatchObject({ Verb: "lock", Key: "k", Session: "id", Value: Buffer.from("ü").toString("base64") });
    expect(server.asked[0]).toMatchObject({ method: "PUT", url: "/v1/txn?consistent=" });
  });

  it("is a session that ends by its ttl only, unless checks are named, and whose lock-delay is a text, also when it is none", async () => {
    server.answers(200, { ID: "abc" });
    const client = await connect();
    expect(await client.createSession(session, never())).toBe("abc");
    await client.createSession({ ...session, lockDelay: 1500, node: "n", checks: ["a"] }, never());
    const [plain, other] = server.asked.map(({ body }) => JSON.parse(body));
    expect(plain).toEqual({ Name: "x", TTL: "10000ms", LockDelay: "0ms", Behavior: "delete", Checks: [] });
    expect(other).toEqual({ Name: "x", TTL: "10000ms", LockDelay: "1500ms", Behavior: "delete", NodeChecks: ["a"], Node: "n" });
  });

  it("asks for names and transactions consistently, and for queries with index and wait", async () => {
    server.answers(200, [], { "x-consul-index": "5" });
    const client = await connect();
    await client.names("p/", never());
    await client.query({ key: "p/x", recurse: true, index: 7, wait: 1500 }, never());
    expect(server.asked.map(({ url }) => url)).toEqual([
      "/v1/kv/p/?keys=&separator=%2F&consistent=",
      "/v1/kv/p/x?index=7&wait=1500ms&recurse=",
    ]);
  });
});

describe("what is answered", () => {
  const kv = (key: string, modifyIndex: number, value: string | null = null) => ({
    KV: { Key: key, Value: value, Session: "s", CreateIndex: 1, ModifyIndex: modifyIndex },
  });

  it("by 404 gives an index to wait on, and that there is nothing", async () => {
    server.answers(404, "", { "x-consul-index": "1234" });
    const client = await connect();
    expect(await client.query({ key: "k", recurse: false, index: 0, wait: 100 }, never())).toEqual({ index: 1234, entries: [] });
    expect(await client.names("p/", never())).toEqual([]);
    expect(await client.renewSession("id", never())).toBe(false);
  });

  it("gives each operation its results", async () => {
    const client = await connect();
    const value = Buffer.from("ü").toString("base64");
    server.answers(200, { Results: [kv("a/1", 2, value), kv("a/2", 3), kv("none", 0), kv("b", 4)], Errors: null });
    const entry = (key: string, modifyIndex: number, text = "") => ({ key, value: text, session: "s", createIndex: 1, modifyIndex });
    const results = await client.transact(
      [
        { verb: "get-tree", key: "a/" },
        { verb: "delete", key: "x" },
        { verb: "get-or-empty", key: "none" },
        { verb: "get-or-empty", key: "b" },
      ],
      never(),
    );
    expect(results).toEqual([[entry("a/1", 2, "ü"), entry("a/2", 3)], null, null, entry("b", 4)]);
  });

  it("with less than there is, because the token may not see it, is an error and not an empty answer", async () => {
    const client = await connect({ token: "t" });
    server.answers(200, { Results: [], Errors: null, ResultsFilteredByACLs: true });
    const operations = [{ verb: "get-or-empty", key: "p/e/leader" }] as const;
    expect(await failure(client.transact(operations, never()))).toMatchObject({ code: "auth", message: expect.stringContaining('"p/e/"') });
    server.answers(200, ["p/a"], { "x-consul-results-filtered-by-acls": "true" });
    expect(await failure(client.names("p/", never()))).toMatchObject({ code: "auth", message: expect.stringContaining('"p/"') });
  });

  it("is a refusal of a transaction, with what each operation was refused for", async () => {
    const client = await connect();
    const what = [
      ['failed to lock key "k" due to lock delay', "delay"],
      ['failed to lock key "k", lock is already held', "held"],
      ['rpc error making call: invalid session "x"', "session"],
      ['failed to check index for key "k", current modify index 5 != 4', "check"],
      ["Permission denied: token lacks permission", "auth"],
      ["something new", "other"],
    ] as const;
    server.answers(409, { Results: null, Errors: what.map(([What], OpIndex) => ({ OpIndex, What })) });
    const refused = await client.transact([{ verb: "delete", key: "k" }], never()).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      name: "TransactionRefused",
      refusals: what.map(([text, kind], operation) => ({ operation, kind, what: text })),
    });
  });

  const long = `rpc error making call: ${"x".repeat(200)}`;
  it.each<[string, number, string, object]>([
    ["a failed cluster", 500, "No cluster leader", { code: "rejected", transient: true }],
    ["a text that the package would replace", 500, long, { code: "rejected", transient: true, message: expect.stringContaining(long) }],
    ["an overload", 503, "try again later", { code: "rejected", transient: true }],
    ["too many connections", 429, "Your IP is issuing too many concurrent connections", { code: "rejected", transient: true }],
    ["a request that was too large", 413, "Request body too large", { code: "too-large", transient: false }],
    ["our mistake", 400, "Bad request", { code: "rejected", transient: false }],
    ["a path that was cleaned", 301, "", { code: "rejected", transient: false }],
    ["a token that may not", 403, "Permission denied", { code: "auth", transient: false }],
    [
      "a ttl that the servers do not take",
      500,
      "Invalid Session TTL '5000000000', must be between [10s=24h0m0s]",
      { code: "unsupported", transient: false, message: expect.stringContaining("session_ttl_min") },
    ],
  ])("by %s (%i)", async (_, status, text, expected) => {
    const client = await connect();
    server.answers(status, text);
    for (const [name, call] of calls) {
      const error = await failure(call(client, never()));
      expect(error, name).toBeInstanceOf(StoreError);
      expect(error, name).toMatchObject({ ...expected, message: expect.stringContaining(text) });
      expect(error, name).toMatchObject(expected);
    }
  });

  it("by 403 says what to do about the token", async () => {
    server.answers(403, "ACL not found");
    const [with_, without] = [await connect({ token: "secret-token" }), await connect()];
    const known = await failure(with_.renewSession("id", never()));
    expect(known.message).toContain("do not know this token");
    expect(known.message).not.toContain("secret-token");
    expect((await failure(without.renewSession("id", never()))).message).toContain("no token is given");
  });

  it("by 5xx is told to whoever listens, for polls may be blind then; nothing else is", async () => {
    const client = await connect();
    const told = vi.fn();
    client.onServerError = told;
    for (const status of [200, 403, 404, 409, 429]) {
      server.answers(status, {}, { "x-consul-index": "5" });
      for (const [, call] of calls) await call(client, never()).catch(() => {});
    }
    expect(told).not.toHaveBeenCalled();
    server.answers(500, "No cluster leader");
    for (const [, call] of calls) await call(client, never()).catch(() => {});
    expect(told).toHaveBeenCalledTimes(calls.length);
  });
});

describe("the package consul", () => {
  afterEach(() => {
    vi.doUnmock("consul");
    vi.resetModules();
  });

  it("is asked for by name when it is not there", async () => {
    vi.doMock("consul", () => {
      throw new Error("Cannot find package");
    });
    const { loadPackage } = await import("../../adapters/consul/client/consul-client-package.js");
    const error = await loadPackage().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "unsupported", transient: false, message: expect.stringContaining("npm install consul@2.0.1") });
  });

  it("has what we use of it", async () => {
    const { loadPackage } = await import("../../adapters/consul/client/consul-client-package.js");
    const { prototype } = await loadPackage();
    for (const method of ["_get", "_put"]) expect(prototype).toHaveProperty(method);
  });
});
