import { describe, expect, it, onTestFinished } from "vitest";
import { consul, fence, isHandle } from "../../adapters/consul/index.js";
import { Elector } from "../../src/elector.js";
import { consul as address } from "../support/consul.js";
import { call } from "../support/consul-http.js";
import { fresh } from "../support/names.js";

function candidate(prefix: string, id: string): Elector {
  const elector = new Elector({ store: consul({ address, prefix, ttl: 4000 }), election: "e", id });
  onTestFinished(() => elector.stop().then(() => {}));
  elector.start();
  return elector;
}

describe("fencing a transaction of Consul", () => {
  it("commits while the term lasts, and not once it has been handed on or its lock was taken away", async () => {
    const prefix = fresh("fence");
    const key = `${prefix}-state`;
    const write = async (handle: unknown) => {
      const body = [...fence(handle), { KV: { Verb: "set", Key: key, Value: Buffer.from("x").toString("base64") } }];
      return (await call(address, "PUT", "/v1/txn", { body })).status;
    };
    const [a, b] = [candidate(prefix, "a"), candidate(prefix, "b")];
    const [first, follower] = await Promise.race([a.elected().then(() => [a, b] as const), b.elected().then(() => [b, a] as const)]);
    const old = first.term!.handle;
    expect(isHandle(old)).toBe(true);
    expect(await write(old)).toBe(200);
    const next = follower.elected();
    await first.stop();
    const { handle } = await next;
    expect(await write(old)).toBe(409);
    expect(await write(handle)).toBe(200);
    await call(address, "DELETE", `/v1/kv/${prefix}/e/leader`);
    expect(await write(handle)).toBe(409);
  });

  it("takes no handle but that of a term on Consul", () => {
    for (const wrong of [null, undefined, {}, { termPath: "/x", version: 1 }]) {
      expect(() => fence(wrong)).toThrow("expected the handle of a term that is held on Consul");
    }
  });
});
