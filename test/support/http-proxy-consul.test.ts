import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { consul } from "./consul.js";
import { call } from "./consul-http.js";
import { type HttpProxy, startHttpProxy } from "./http-proxy.js";
import { kindOf } from "./http-proxy-kinds.js";
import { drop, hold } from "./http-proxy-rules.js";
import { fresh } from "./names.js";

let proxy: HttpProxy;
let key: string;
beforeEach(async () => {
  proxy = await startHttpProxy(Number(consul.split(":")[1]));
  key = fresh("proxied");
});
afterEach(() => proxy.dispose());

const transaction = (value: string) => ({ body: [{ KV: { Verb: "set", Key: key, Value: Buffer.from(value).toString("base64") } }] });
const stored = async () => (await call(consul, "GET", `/v1/kv/${key}?raw&consistent`)).text;

describe("the proxy of HTTP before a real Consul", () => {
  it("commits late what the client has given up", async () => {
    const late = proxy.rule({ verb: "set", key }, hold);
    await expect(call(proxy.address, "PUT", "/v1/txn", { ...transaction("late"), timeout: 200 })).rejects.toThrow(
      "no answer within 200 ms",
    );
    expect(await stored()).toBe("");
    expect((await call(proxy.address, "PUT", "/v1/txn", transaction("in time"))).status).toBe(200);
    expect(await stored()).toBe("in time");
    await late.release();
    expect(await stored()).toBe("late");
    expect(late.requests[0]).toMatchObject({ status: 200, operations: [{ verb: "set", key, value: "late" }] });
  });

  it("loses the reply to a transaction that was done", async () => {
    const lost = proxy.rule({ verb: "set" }, drop);
    await expect(call(proxy.address, "PUT", "/v1/txn", transaction("done"))).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(await lost.done).toMatchObject({ status: 200 });
    expect(await stored()).toBe("done");
  });

  it("tells polls that were woken from those whose wait was over", async () => {
    await call(consul, "PUT", `/v1/kv/${key}`, { body: "1" });
    await call(proxy.address, "GET", `/v1/kv/${key}`);
    const { index } = proxy.requests[0]!;
    expect(index).toBeGreaterThan(0);
    await call(proxy.address, "GET", `/v1/kv/${key}?index=${index}&wait=50ms`);
    const open = proxy.rule({ where: ({ query }) => query.wait === "30s" }, { kind: "delay", ms: 0, what: "answer" });
    const woken = call(proxy.address, "GET", `/v1/kv/${key}?index=${index}&wait=30s`, { timeout: 20_000 });
    await open.hit;
    await call(consul, "PUT", `/v1/kv/${key}`, { body: "2" });
    await woken;
    expect(proxy.requests.map(kindOf)).toEqual(["other", "waited", "woken"]);
  });
});
