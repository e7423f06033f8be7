import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpProxy, startHttpProxy } from "./http-proxy.js";
import { countKinds, kindOf } from "./http-proxy-kinds.js";
import { answer, cutBody, delay, drop, hold, mute, swallow } from "./http-proxy-rules.js";
import { until } from "./wait-for.js";

/** What has reached the server, as `METHOD url body`, and its open connections. */
let seen: string[];
let sockets: Set<Socket>;
let server: Server;
let proxy: HttpProxy;
let agent: Agent;
/** The server answers after that. */
let released: Promise<void>;

beforeEach(async () => {
  seen = [];
  released = Promise.resolve();
  sockets = new Set();
  server = createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    seen.push(`${incoming.method} ${incoming.url} ${body}`);
    const url = new URL(incoming.url as string, "http://server");
    const status = Number(url.searchParams.get("status") ?? 200);
    response.writeHead(status, { "X-Consul-Index": url.searchParams.get("give") ?? "7", "X-Method": incoming.method });
    await released;
    response.end(`answer to ${url.pathname}`);
  });
  server.keepAliveTimeout = 0;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy = await startHttpProxy((server.address() as AddressInfo).port);
  agent = new Agent({ keepAlive: true });
});

afterEach(async () => {
  agent.destroy();
  await proxy.dispose();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Got {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Rejects when the connection ends before the answer has come as a whole, and when `signal` aborts. */
function send(method: string, path: string, body = "", signal?: AbortSignal): Promise<Got> {
  return new Promise((resolve, reject) => {
    const [host, port] = proxy.address.split(":");
    const sent = request({ host, port, method, path, agent, ...(signal && { signal }) }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += chunk));
      response.once("error", (error) => reject(new Error(`${error.message} after "${text}"`)));
      response.once("end", () => resolve({ status: response.statusCode as number, headers: response.headers, body: text }));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

function transaction(...operations: Record<string, unknown>[]): string {
  return JSON.stringify(operations.map((KV) => ({ KV })));
}

/** Is still unsettled when another request has gone all the way. */
async function expectPending(call: Promise<unknown>): Promise<void> {
  let settled = false;
  const over = () => {
    settled = true;
  };
  call.then(over, over);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(settled).toBe(false);
}

describe("the proxy of HTTP", () => {
  it("passes requests and answers on, on one connection each way", async () => {
    const got = await send("PUT", "/v1/kv/a%2Fb?status=404&give=12", "text");
    expect(got).toMatchObject({ status: 404, body: "answer to /v1/kv/a%2Fb", headers: { "x-consul-index": "12", "x-method": "PUT" } });
    await send("GET", "/v1/kv/x");
    expect(seen).toEqual(["PUT /v1/kv/a%2Fb?status=404&give=12 text", "GET /v1/kv/x "]);
    expect(sockets.size).toBe(1);
    await Promise.all([send("GET", "/a"), send("GET", "/b"), send("GET", "/c")]);
    expect([proxy.connections, proxy.mostConnections, sockets.size]).toEqual([3, 3, 3]);
    agent.destroy();
    await until(() => sockets.size === 0 && proxy.connections === 0, { what: "the server's ends go with the client's" });
    expect(proxy.mostConnections).toBe(3);
  });

  it("logs requests, and transactions decoded", async () => {
    const before = process.hrtime.bigint();
    const value = Buffer.from("wählt").toString("base64");
    await send(
      "PUT",
      "/v1/txn",
      transaction({ Verb: "lock", Key: "a/leader", Session: "s", Value: value }, { Verb: "cas", Key: "t", Index: 3 }),
    );
    const [logged] = proxy.requests;
    expect(logged).toMatchObject({
      method: "PUT",
      path: "/v1/txn",
      status: 200,
      index: 7,
      operations: [
        { verb: "lock", key: "a/leader", session: "s", value: "wählt", index: null },
        { verb: "cas", key: "t", session: "", value: "", index: 3 },
      ],
    });
    expect(logged!.at).toBeGreaterThan(before);
    expect(logged!.answeredAt!).toBeGreaterThan(logged!.at);
  });

  it("ends the client's connection when the server ends its own, and without an answer when there is no server", async () => {
    await send("GET", "/a");
    server.closeAllConnections();
    await until(() => proxy.connections === 0, { what: "the client is hung up on" });
    await new Promise((resolve) => server.close(resolve));
    await expect(send("GET", "/b")).rejects.toThrow(/socket hang up|ECONNRESET/);
  });
});

describe("a client that gives up", () => {
  /** Sends a request, and gives it up when the server has it; resolves to what lets the server answer. */
  async function giveUp(): Promise<() => void> {
    let release = () => {};
    released = new Promise((resolve) => {
      release = resolve;
    });
    const givenUp = new AbortController();
    const call = send("PUT", "/a", "", givenUp.signal);
    const rejected = expect(call).rejects.toThrow("aborted");
    await until(() => seen.length === 1, { what: "the server has the request" });
    givenUp.abort();
    await rejected;
    return release;
  }

  it("ends its connection to the server", async () => {
    const release = await giveUp();
    await until(() => sockets.size === 0, { what: "the server's connection ends" });
    release();
    expect(proxy.requests[0]!.status).toBe(null);
  });

  it("ends it only after the answer where a rule waits for that", async () => {
    const rule = proxy.rule({}, mute);
    const release = await giveUp();
    await until(() => proxy.connections === 0, { what: "the proxy knows that it has gone" });
    expect(sockets.size).toBe(1);
    release();
    expect((await rule.done).status).toBe(200);
    await until(() => sockets.size === 0, { what: "the server's connection ends" });
  });
});

describe("rules of the proxy", () => {
  it("meet what they match, so many times, after so many, and end", async () => {
    const rule = proxy.rule({ method: "PUT", path: "/v1/txn", verb: "lock", key: /leader$/ }, answer(409, { Errors: [] }), {
      times: 2,
      after: 1,
    });
    const lock = transaction({ Verb: "lock", Key: "a/leader" });
    const others = [transaction({ Verb: "lock", Key: "leader/a" }), transaction({ Verb: "unlock", Key: "a/leader" }), ""];
    for (const other of others) expect((await send("PUT", "/v1/txn", other)).status).toBe(200);
    expect((await send("PUT", "/v1/txn", lock)).status).toBe(200);
    expect(await send("PUT", "/v1/txn", lock)).toMatchObject({ status: 409, body: '{"Errors":[]}' });
    expect((await send("PUT", "/v1/txn", lock)).status).toBe(409);
    expect((await send("PUT", "/v1/txn", lock)).status).toBe(200);
    expect(rule.hits).toBe(2);
    expect(await rule.hit).toBe(proxy.requests[4]);
    expect(proxy.requests[4]!.status).toBe(409);
    expect(seen).toHaveLength(5);

    const forEver = proxy.rule(
      { path: /^\/v1\/kv/, where: ({ query }) => query.consistent !== undefined },
      answer(500, "No cluster leader"),
      {
        times: Number.POSITIVE_INFINITY,
      },
    );
    for (let i = 0; i < 3; i++) expect((await send("GET", "/v1/kv/a?consistent")).body).toBe("No cluster leader");
    expect((await send("GET", "/v1/kv/a")).status).toBe(200);
    forEver.remove();
    expect((await send("GET", "/v1/kv/a?consistent")).status).toBe(200);
  });

  it("drop an answer: the server has done it, the client's connection ends", async () => {
    const rule = proxy.rule({ method: "PUT" }, drop);
    await expect(send("PUT", "/a")).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(await rule.done).toMatchObject({ status: 200 });
    expect(seen).toEqual(["PUT /a "]);
    expect((await send("PUT", "/b")).status).toBe(200);
  });

  it("are mute: the server has done it, the client waits", async () => {
    const rule = proxy.rule({}, mute);
    const call = send("PUT", "/a");
    call.catch(() => {});
    await rule.done;
    expect(seen).toEqual(["PUT /a "]);
    await expectPending(call);
    expect(proxy.connections).toBe(1);
  });

  it("swallow a request: the server hears nothing, the client waits", async () => {
    const rule = proxy.rule({}, swallow);
    const call = send("PUT", "/a");
    call.catch(() => {});
    await rule.done;
    await expectPending(call);
    expect(seen).toEqual([]);
    expect((await send("PUT", "/b")).status).toBe(200);
  });

  it("cut an answer in its body", async () => {
    proxy.rule({}, cutBody);
    await expect(send("PUT", "/a")).rejects.toThrow('aborted after "answer"');
    expect(seen).toEqual(["PUT /a "]);
  });

  it("delay an answer, or a request", async () => {
    proxy.rule({ path: "/answer" }, delay(100));
    proxy.rule({ path: "/request" }, delay(100, "request"));
    await send("PUT", "/answer");
    const told = process.hrtime.bigint();
    await send("PUT", "/request");
    const [answered, requested] = proxy.requests;
    // Timers may be a millisecond early.
    expect(told - answered!.answeredAt!).toBeGreaterThan(98_000_000n);
    expect(requested!.answeredAt! - requested!.at).toBeGreaterThan(98_000_000n);
    expect(seen).toHaveLength(2);
  });

  it("hold requests until they are released, then in their order, also when the client has given up", async () => {
    const rule = proxy.rule({ method: "PUT" }, hold, { times: Number.POSITIVE_INFINITY });
    const givenUp = new AbortController();
    const first = send("PUT", "/first", "", givenUp.signal);
    await rule.hit;
    const second = send("PUT", "/second");
    await until(() => rule.hits === 2, { what: "both are held" });
    givenUp.abort();
    await expect(first).rejects.toThrow("aborted");
    await send("GET", "/meanwhile");
    expect(seen).toEqual(["GET /meanwhile "]);
    await rule.release();
    expect(seen).toEqual(["GET /meanwhile ", "PUT /first ", "PUT /second "]);
    expect((await second).body).toBe("answer to /second");
    expect(rule.requests.map(({ status }) => status)).toEqual([200, 200]);
    expect((await send("PUT", "/third")).status).toBe(200);
  });
});

describe("faults of the whole proxy", () => {
  it("blackhole: nothing passes, also on open connections; afterwards those that lost nothing go on", async () => {
    // Two connections; one stays idle.
    await Promise.all([send("GET", "/a"), send("GET", "/b")]);
    const late = proxy.rule({ path: "/answered" }, delay(50));
    const answered = send("GET", "/answered");
    await late.hit;
    proxy.blackhole();
    const [onOpen, onNew] = [send("GET", "/open"), send("GET", "/new")];
    for (const call of [answered, onOpen, onNew]) call.catch(() => {});
    await late.done;
    await until(() => proxy.requests.length === 5, { what: "both have come" });
    await expectPending(Promise.race([answered, onOpen, onNew]));
    expect(seen.filter((line) => /open|new/.test(line))).toEqual([]);
    expect(proxy.connections).toBe(3);

    await proxy.restore();
    for (const call of [answered, onOpen, onNew]) await expect(call).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect((await send("GET", "/after")).status).toBe(200);
  });

  it("blackhole: the server does not hear that a client hangs up, until it is over", async () => {
    await send("GET", "/a");
    proxy.blackhole();
    agent.destroy();
    await until(() => proxy.connections === 0, { what: "the client has gone" });
    expect(sockets.size).toBe(1);
    await proxy.restore();
    await until(() => sockets.size === 0, { what: "the server hears of it" });
  });

  it("cut: connections end and new ones are refused, until it is over; hangUp: new ones are served", async () => {
    proxy.rule({ path: "/pending" }, mute);
    const pending = send("GET", "/pending");
    const refused = expect(pending).rejects.toThrow(/socket hang up|ECONNRESET/);
    await until(() => seen.length === 1, { what: "it has reached the server" });
    await proxy.cut();
    await refused;
    expect(proxy.connections).toBe(0);
    await expect(send("GET", "/a")).rejects.toThrow("ECONNREFUSED");
    await proxy.restore();
    expect((await send("GET", "/b")).status).toBe(200);
    proxy.hangUp();
    await until(() => Object.keys(agent.freeSockets).length === 0, { what: "the client knows that its connection has ended" });
    expect((await send("GET", "/c")).status).toBe(200);
  });
});

describe("kinds of requests", () => {
  it("tells reads from writes, and polls that were woken from those whose wait was over", async () => {
    const get = { Verb: "get-or-empty", Key: "a" };
    const check = { Verb: "check-session", Key: "a", Session: "s" };
    await send("PUT", "/v1/txn", transaction(get, check, { Verb: "get-tree", Key: "q/" }));
    await send("PUT", "/v1/txn", transaction(get, { Verb: "lock", Key: "a", Session: "s" }));
    await send("PUT", "/v1/txn", transaction({ Verb: "delete-cas", Key: "a", Index: 1 }));
    await send("PUT", "/v1/session/renew/abc");
    await send("GET", "/v1/kv/a?index=7&give=8");
    await send("GET", "/v1/kv/a?index=7&give=7&status=404");
    await send("GET", "/v1/kv/a?index=7&status=500");
    await send("GET", "/v1/kv/a?index=0");
    await send("PUT", "/v1/session/create");
    const open = proxy.rule({}, swallow);
    send("GET", "/v1/kv/a?index=9").catch(() => {});
    await open.hit;
    expect(proxy.requests.slice(0, 9).map(kindOf)).toEqual([
      "read",
      "write",
      "deletion",
      "renewal",
      "woken",
      "waited",
      "failed",
      "other",
      "other",
    ]);
    expect(kindOf(proxy.requests[9]!)).toBe("waiting");
    expect(countKinds(proxy.requests.slice(0, 9))).toEqual({
      write: 1,
      deletion: 1,
      read: 1,
      renewal: 1,
      woken: 1,
      waited: 1,
      waiting: 0,
      failed: 1,
      other: 2,
    });
  });
});
