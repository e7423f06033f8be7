import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HttpProxy } from "./http-proxy.js";
import { answer, cutBody, delay, drop, hold, mute, swallow } from "./http-proxy-rules.js";
import { expectPending, Scripted, transaction } from "./http-proxy-scripted.js";
import { until } from "./wait-for.js";

let scripted: Scripted;
let proxy: HttpProxy;
beforeEach(async () => {
  scripted = await new Scripted().start();
  proxy = scripted.proxy;
});
afterEach(() => scripted.dispose());

describe("the proxy of HTTP", () => {
  it("passes requests and answers on, on one connection each way", async () => {
    const got = await scripted.send("PUT", "/v1/kv/a%2Fb?status=404&give=12", "text");
    expect(got).toMatchObject({ status: 404, body: "answer to /v1/kv/a%2Fb", headers: { "x-consul-index": "12", "x-method": "PUT" } });
    await scripted.send("GET", "/v1/kv/x");
    expect(scripted.seen).toEqual(["PUT /v1/kv/a%2Fb?status=404&give=12 text", "GET /v1/kv/x "]);
    expect(scripted.sockets.size).toBe(1);
    await Promise.all([scripted.send("GET", "/a"), scripted.send("GET", "/b"), scripted.send("GET", "/c")]);
    expect([proxy.connections, proxy.mostConnections, scripted.sockets.size]).toEqual([3, 3, 3]);
    scripted.agent.destroy();
    await until(() => scripted.sockets.size === 0 && proxy.connections === 0, { what: "the server's ends go with the client's" });
    expect(proxy.mostConnections).toBe(3);
  });

  it("logs requests, and transactions decoded", async () => {
    const before = process.hrtime.bigint();
    const value = Buffer.from("wählt").toString("base64");
    await scripted.send(
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
    await scripted.send("GET", "/a");
    scripted.server.closeAllConnections();
    await until(() => proxy.connections === 0, { what: "the client is hung up on" });
    await new Promise((resolve) => scripted.server.close(resolve));
    await expect(scripted.send("GET", "/b")).rejects.toThrow(/socket hang up|ECONNRESET/);
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
    for (const other of others) expect((await scripted.send("PUT", "/v1/txn", other)).status).toBe(200);
    expect((await scripted.send("PUT", "/v1/txn", lock)).status).toBe(200);
    expect(await scripted.send("PUT", "/v1/txn", lock)).toMatchObject({ status: 409, body: '{"Errors":[]}' });
    expect((await scripted.send("PUT", "/v1/txn", lock)).status).toBe(409);
    expect((await scripted.send("PUT", "/v1/txn", lock)).status).toBe(200);
    expect(rule.hits).toBe(2);
    expect(await rule.hit).toBe(proxy.requests[4]);
    expect(proxy.requests[4]!.status).toBe(409);
    expect(scripted.seen).toHaveLength(5);

    const forEver = proxy.rule(
      { path: /^\/v1\/kv/, where: ({ query }) => query.consistent !== undefined },
      answer(500, "No cluster leader"),
      {
        times: Number.POSITIVE_INFINITY,
      },
    );
    for (let i = 0; i < 3; i++) expect((await scripted.send("GET", "/v1/kv/a?consistent")).body).toBe("No cluster leader");
    expect((await scripted.send("GET", "/v1/kv/a")).status).toBe(200);
    forEver.remove();
    expect((await scripted.send("GET", "/v1/kv/a?consistent")).status).toBe(200);
  });

  it("drop an answer: the server has done it, the client's connection ends", async () => {
    const rule = proxy.rule({ method: "PUT" }, drop);
    await expect(scripted.send("PUT", "/a")).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(await rule.done).toMatchObject({ status: 200 });
    expect(scripted.seen).toEqual(["PUT /a "]);
    expect((await scripted.send("PUT", "/b")).status).toBe(200);
  });

  it("are mute: the server has done it, the client waits", async () => {
    const rule = proxy.rule({}, mute);
    const call = scripted.send("PUT", "/a");
    call.catch(() => {});
    await rule.done;
    expect(scripted.seen).toEqual(["PUT /a "]);
    await expectPending(call);
    expect(proxy.connections).toBe(1);
  });

  it("swallow a request: the server hears nothing, the client waits", async () => {
    const rule = proxy.rule({}, swallow);
    const call = scripted.send("PUT", "/a");
    call.catch(() => {});
    await rule.done;
    await expectPending(call);
    expect(scripted.seen).toEqual([]);
    expect((await scripted.send("PUT", "/b")).status).toBe(200);
  });

  it("cut an answer in its body", async () => {
    proxy.rule({}, cutBody);
    await expect(scripted.send("PUT", "/a")).rejects.toThrow('aborted after "answer"');
    expect(scripted.seen).toEqual(["PUT /a "]);
  });

  it("delay an answer, or a request", async () => {
    proxy.rule({ path: "/answer" }, delay(100));
    proxy.rule({ path: "/request" }, delay(100, "request"));
    await scripted.send("PUT", "/answer");
    const told = process.hrtime.bigint();
    await scripted.send("PUT", "/request");
    const [answered, requested] = proxy.requests;
    // Timers may be a millisecond early.
    expect(told - answered!.answeredAt!).toBeGreaterThan(98_000_000n);
    expect(requested!.answeredAt! - requested!.at).toBeGreaterThan(98_000_000n);
    expect(scripted.seen).toHaveLength(2);
  });

  it("hold requests until they are released, then in their order, also when the client has given up", async () => {
    const rule = proxy.rule({ method: "PUT" }, hold, { times: Number.POSITIVE_INFINITY });
    const givenUp = new AbortController();
    const first = scripted.send("PUT", "/first", "", givenUp.signal);
    await rule.hit;
    const second = scripted.send("PUT", "/second");
    await until(() => rule.hits === 2, { what: "both are held" });
    givenUp.abort();
    await expect(first).rejects.toThrow("aborted");
    await scripted.send("GET", "/meanwhile");
    expect(scripted.seen).toEqual(["GET /meanwhile "]);
    await rule.release();
    expect(scripted.seen).toEqual(["GET /meanwhile ", "PUT /first ", "PUT /second "]);
    expect((await second).body).toBe("answer to /second");
    expect(rule.requests.map(({ status }) => status)).toEqual([200, 200]);
    expect((await scripted.send("PUT", "/third")).status).toBe(200);
  });
});
