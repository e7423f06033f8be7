import { describe, expect, it } from "vitest";
import { type ApiLockEvent, benchApiLock, holdApiLock } from "./api-lock.js";
import { consul } from "./consul.js";
import { call } from "./consul-http.js";
import { fresh } from "./names.js";
import { until } from "./wait-for.js";

/** Who holds the lock on `key`; undefined: nobody. */
async function holder(key: string): Promise<string | undefined> {
  const answer = await call(consul, "GET", `/v1/kv/${key}?consistent`);
  return answer.status === 404 ? undefined : answer.json<{ Session?: string }[]>()[0]?.Session;
}

describe("a user of Go's api.Lock", () => {
  it("takes the lock, gives it to the next one, and frees it", async () => {
    const key = fresh("go");
    await using first = await holdApiLock(consul, key);
    await first.event("held");
    const session = await holder(key);
    expect(session).toBeDefined();
    await using second = await holdApiLock(consul, key);
    await using third = await holdApiLock(consul, key);
    await third.release();
    expect(third.events.map(({ event }) => event)).toEqual(["waiting", "withdrawn"]);
    expect(await holder(key)).toBe(session);

    const asked = process.hrtime.bigint();
    await first.release();
    const held = await second.event("held");
    expect(held.at).toBeGreaterThan(Number(asked));
    expect(held.at).toBeLessThan(Number(process.hrtime.bigint()));
    expect(await holder(key)).not.toBe(session);
    await second.release();
    expect(await holder(key)).toBeUndefined();
  });

  it("notices that its lock is gone, and leaves its session when it is killed", async () => {
    const key = fresh("go");
    await using first = await holdApiLock(consul, key);
    await first.event("held");
    await call(consul, "DELETE", `/v1/kv/${key}`);
    await first.event("lost");
    await using second = await holdApiLock(consul, key);
    await second.event("held");
    const session = await holder(key);
    await second.kill();
    expect(await holder(key)).toBe(session);
    await call(consul, "PUT", `/v1/session/destroy/${session}`);
    await until(async () => (await holder(key)) === undefined, { what: "the lock is free" });
  });

  it("is measured: hand-overs among several, one line each", async () => {
    const events: ApiLockEvent[] = [];
    await benchApiLock(consul, fresh("bench"), { n: 3, rounds: 4, warmup: 1, hold: 60 }, (event) => events.push(event));
    expect(events.map(({ event }) => event)).toEqual(["begin", "hand-over", "hand-over", "hand-over", "hand-over", "end"]);
    for (const event of events) {
      if (event.event === "hand-over") expect(event.ns).toBeGreaterThan(0);
      if (event.event === "end") expect(event.requests).toBeGreaterThan(4 * 3);
    }
  });
});
