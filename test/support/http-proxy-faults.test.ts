import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HttpProxy } from "./http-proxy.js";
import { countKinds, kindOf } from "./http-proxy-kinds.js";
import { delay, mute, swallow } from "./http-proxy-rules.js";
import { expectPending, Scripted, transaction } from "./http-proxy-scripted.js";
import { until } from "./wait-for.js";

let scripted: Scripted;
let proxy: HttpProxy;
beforeEach(async () => {
  scripted = await new Scripted().start();
  proxy = scripted.proxy;
});
afterEach(() => scripted.dispose());

describe("a client of the proxy that gives up", () => {
  /** Sends a request, and gives it up when the server has it; resolves to what lets the server answer. */
  async function giveUp(): Promise<() => void> {
    let release = () => {};
    scripted.released = new Promise((resolve) => {
      release = resolve;
    });
    const givenUp = new AbortController();
    const call = scripted.send("PUT", "/a", "", givenUp.signal);
    const rejected = expect(call).rejects.toThrow("aborted");
    await until(() => scripted.seen.length === 1, { what: "the server has the request" });
    givenUp.abort();
    await rejected;
    return release;
  }

  it("ends its connection to the server", async () => {
    const release = await giveUp();
    await until(() => scripted.sockets.size === 0, { what: "the server's connection ends" });
    release();
    expect(proxy.requests[0]!.status).toBe(null);
  });

  it("ends it only after the answer where a rule waits for that", async () => {
    const rule = proxy.rule({}, mute);
    const release = await giveUp();
    await until(() => proxy.connections === 0, { what: "the proxy knows that it has gone" });
    expect(scripted.sockets.size).toBe(1);
    release();
    expect((await rule.done).status).toBe(200);
    await until(() => scripted.sockets.size === 0, { what: "the server's connection ends" });
  });
});

describe("faults of the whole proxy", () => {
  it("blackhole: nothing passes, also on open connections; afterwards those that lost nothing go on", async () => {
    // Two connections; one stays idle.
    await Promise.all([scripted.send("GET", "/a"), scripted.send("GET", "/b")]);
    const late = proxy.rule({ path: "/answered" }, delay(50));
    const answered = scripted.send("GET", "/answered");
    await late.hit;
    proxy.blackhole();
    const [onOpen, onNew] = [scripted.send("GET", "/open"), scripted.send("GET", "/new")];
    for (const call of [answered, onOpen, onNew]) call.catch(() => {});
    await late.done;
    await until(() => proxy.requests.length === 5, { what: "both have come" });
    await expectPending(Promise.race([answered, onOpen, onNew]));
    expect(scripted.seen.filter((line) => /open|new/.test(line))).toEqual([]);
    expect(proxy.connections).toBe(3);

    await proxy.restore();
    for (const call of [answered, onOpen, onNew]) await expect(call).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect((await scripted.send("GET", "/after")).status).toBe(200);
  });

  it("blackhole: the server does not hear that a client hangs up, until it is over", async () => {
    await scripted.send("GET", "/a");
    proxy.blackhole();
    scripted.agent.destroy();
    await until(() => proxy.connections === 0, { what: "the client has gone" });
    expect(scripted.sockets.size).toBe(1);
    await proxy.restore();
    await until(() => scripted.sockets.size === 0, { what: "the server hears of it" });
  });

  it("cut: connections end and new ones are refused, until it is over; hangUp: new ones are served", async () => {
    proxy.rule({ path: "/pending" }, mute);
    const pending = scripted.send("GET", "/pending");
    const refused = expect(pending).rejects.toThrow(/socket hang up|ECONNRESET/);
    await until(() => scripted.seen.length === 1, { what: "it has reached the server" });
    await proxy.cut();
    await refused;
    expect(proxy.connections).toBe(0);
    await expect(scripted.send("GET", "/a")).rejects.toThrow("ECONNREFUSED");
    await proxy.restore();
    expect((await scripted.send("GET", "/b")).status).toBe(200);
    proxy.hangUp();
    await until(() => Object.keys(scripted.agent.freeSockets).length === 0, { what: "the client knows that its connection has ended" });
    expect((await scripted.send("GET", "/c")).status).toBe(200);
  });
});

describe("kinds of requests", () => {
  it("tells reads from writes, and polls that were woken from those whose wait was over", async () => {
    const get = { Verb: "get-or-empty", Key: "a" };
    const check = { Verb: "check-session", Key: "a", Session: "s" };
    await scripted.send("PUT", "/v1/txn", transaction(get, check, { Verb: "get-tree", Key: "q/" }));
    await scripted.send("PUT", "/v1/txn", transaction(get, { Verb: "lock", Key: "a", Session: "s" }));
    await scripted.send("PUT", "/v1/txn", transaction({ Verb: "delete-cas", Key: "a", Index: 1 }));
    await scripted.send("PUT", "/v1/session/renew/abc");
    await scripted.send("GET", "/v1/kv/a?index=7&give=8");
    await scripted.send("GET", "/v1/kv/a?index=7&give=7&status=404");
    await scripted.send("GET", "/v1/kv/a?index=7&status=500");
    await scripted.send("GET", "/v1/kv/a?index=0");
    await scripted.send("PUT", "/v1/session/create");
    const open = proxy.rule({}, swallow);
    scripted.send("GET", "/v1/kv/a?index=9").catch(() => {});
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
