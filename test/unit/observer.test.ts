import { afterEach, describe, expect, it, vi } from "vitest";
import { StoreError } from "../../src/errors.js";
import { type Observer, observe } from "../../src/observer.js";
import type { Leader } from "../../src/store.js";
import { TappedStore } from "./support/tapped-store.js";
import { watch } from "./support/watch.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
let observers: Observer[] = [];
afterEach(async () => {
  const closed = watch(Promise.all(observers.map((observer) => observer.close())));
  await world.clock.advanceUntil(() => closed.outcome !== null, 2 * TTL);
  observers = [];
  await world.end();
});

function observer(options: Parameters<typeof observe>[2] = {}) {
  const client = world.server.client("observer");
  const tap = new TappedStore(client);
  const clock = world.clock.process();
  const observer = observe(tap, "seat", { clock, ...options });
  observers.push(observer);
  const changes: (string | null)[] = [];
  observer.on("change", (leader) => void changes.push(leader && `${leader.id}/${leader.number}`));
  return { observer, client, tap, clock, changes };
}

describe("observe", () => {
  it("tells the first that it sees, and each change; `current` is the last", async () => {
    world = new World();
    const o = observer();
    expect(o.observer.current).toBe(null);
    await world.clock.settle();
    expect(o.changes).toEqual([null]);
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    await world.clock.settle();
    expect(o.changes).toEqual([null, "a/1"]);
    expect(o.observer.current).toMatchObject({ id: "a", number: 1, fence: a.elector.term?.fence, metadata: {} });
    expect(o.observer.current?.since).toBeInstanceOf(Date);
    a.elector.resign();
    await world.clock.advance(500);
    expect(o.changes).toEqual([null, "a/1", "b/2"]);
    expect(await world.line()).toEqual(["b*", "a"]);
  });

  it("tells that nobody leads", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const o = observer();
    await world.clock.settle();
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    await world.clock.settle();
    expect(o.changes).toEqual(["a/1", null]);
    expect(o.observer.current).toBe(null);
  });

  it("staleSince: from the start until the first answer, and from the trouble until it is over", async () => {
    world = new World();
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    const o = observer();
    expect(o.observer.staleSince).toEqual(new Date(o.clock.wall()));
    await world.clock.settle();
    expect(o.observer.staleSince).toBe(null);
    await world.clock.advance(1000);
    const cut = o.clock.wall();
    o.client.partition();
    await world.clock.advance(TTL + 1000);
    const since = o.observer.staleSince?.getTime() ?? 0;
    expect(since).toBeGreaterThan(cut);
    expect(since).toBeLessThanOrEqual(cut + TTL);
    expect(o.observer.current?.id).toBe("a");
    a.elector.resign();
    await world.clock.advance(1000);
    expect(o.observer.current?.id).toBe("a");
    o.client.heal();
    await world.clock.advanceUntil(() => o.observer.staleSince === null, 5000);
    expect(o.changes).toEqual(["a/1", "b/2"]);
  });

  it("reconnects by itself after its session has ended, and after errors that are said to last", async () => {
    world = new World();
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    const o = observer();
    await world.clock.settle();
    for (const session of o.client.sessions) world.server.expire(session);
    await world.clock.advance(3000);
    o.client.refuse(new StoreError("auth", "not you"));
    a.elector.resign();
    await world.clock.advance(3000);
    o.client.accept();
    await world.clock.advance(5000);
    expect(o.changes).toEqual(["a/1", "b/2"]);
    expect(o.observer.staleSince).toBe(null);
  });

  it("async iteration: the present leader first, then each change, until close()", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const o = observer();
    const seen: (string | null)[] = [];
    const reading = watch(
      (async () => {
        for await (const leader of o.observer) seen.push(leader?.id ?? null);
      })(),
    );
    await world.clock.settle();
    a.elector.resign();
    await world.clock.advance(500);
    await Promise.all([a.elector.stop(), b.elector.stop(), world.clock.settle()]);
    await world.clock.settle();
    expect(seen.at(0)).toBe("a");
    expect(seen.at(-1)).toBe(null);
    expect(reading.outcome).toBe(null);
    await o.observer.close();
    await world.clock.settle();
    expect(reading.outcome).toEqual({ value: undefined });
  });

  it("async iteration: two readers, one that leaves early, and one that begins after close()", async () => {
    world = new World();
    await world.lineUp("a");
    const o = observer();
    await world.clock.settle();
    const first: Leader | null = await (async () => {
      for await (const leader of o.observer) return leader;
      return null;
    })();
    expect(first?.id).toBe("a");
    await o.observer.close();
    const late: unknown[] = [];
    for await (const leader of o.observer) late.push(leader);
    expect(late).toEqual([]);
  });

  it("close() leaves no session and no timer, at any step, also while the store is unreachable", async () => {
    world = new World();
    for (let n = 1; n <= 6; n++) {
      const o = observer();
      let closed: { outcome: unknown } | null = null;
      o.tap.around = (call, pass) => {
        if (call.n === n) closed = watch(o.observer.close());
        return pass();
      };
      await world.clock.advance(100);
      for (const session of o.client.sessions) world.server.expire(session);
      await world.clock.advance(5000);
      closed ??= watch(o.observer.close());
      await world.clock.settle();
      expect([n, (closed as { outcome: unknown }).outcome]).toEqual([n, { value: undefined }]);
      expect([n, o.clock.pending, o.client.sessions, world.server.sessions]).toEqual([n, 0, [], 0]);
    }
    const o = observer();
    await world.clock.settle();
    world.server.stop();
    const closed = watch(o.observer.close());
    await world.clock.advance(TTL);
    expect(closed.outcome).toEqual({ value: undefined });
    expect(o.clock.pending).toBe(0);
  });

  it("a listener that throws or rejects is logged, and disturbs nothing", async () => {
    world = new World();
    const [a] = (await world.lineUp("a", "b")) as [Candidate];
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const o = observer({ logger });
    o.observer.on("change", () => {
      throw new Error("thrown");
    });
    o.observer.on("change", (async () => {
      throw new Error("rejected");
    }) as never);
    let heard = 0;
    const off = o.observer.on("change", () => void heard++);
    await world.clock.settle();
    expect(o.observer.staleSince).toBe(null);
    expect(o.tap.names()).toEqual(["open", "leader", "changed"]);
    expect(heard).toBe(1);
    expect(logger.warn).toHaveBeenCalledTimes(2);
    off();
    a.elector.resign();
    await world.clock.settle();
    expect(heard).toBe(1);
  });

  it("a logger or a clock that cannot be used is a ConfigError", () => {
    world = new World();
    const store = world.server.client();
    expect(() => observe(store, "seat", { logger: {} as never })).toThrow(expect.objectContaining({ option: "logger" }));
    expect(() => observe(store, "seat", { clock: {} as never })).toThrow(expect.objectContaining({ option: "clock" }));
    expect(() => observe(null as never, "seat")).toThrow(expect.objectContaining({ option: "store" }));
  });
});
