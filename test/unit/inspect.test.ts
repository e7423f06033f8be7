import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import { inspect } from "../../src/inspect.js";
import { observe } from "../../src/observer.js";
import { watch } from "./support/watch.js";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

describe("asking once", () => {
  it("leader(), position() and inspect() agree, on the session that is open", async () => {
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const c = world.candidate("c");
    const asked = watch(
      Promise.all([a.elector.position(), b.elector.position(), c.elector.position(), b.elector.leader(), c.elector.leader()]),
    );
    await world.clock.settle();
    expect(asked.outcome).toMatchObject({ value: [0, 1, null, { id: "a", number: 1 }, { id: "a", number: 1 }] });
    expect([a.tap.count("open"), b.tap.count("open"), c.tap.count("close")]).toEqual([1, 1, c.tap.count("open")]);
    const inspected = watch(inspect(c.tap, "seat", { clock: c.clock }));
    await world.clock.settle();
    expect(inspected.outcome).toMatchObject({
      value: {
        leader: { id: "a" },
        queue: [
          { id: "a", leading: true },
          { id: "b", leading: false },
        ],
      },
    });
    expect([c.clock.pending, world.server.sessions]).toEqual([0, 2]);
  });

  it("rejects at the first failure, and with the reason of its signal", async () => {
    world = new World();
    const a = world.candidate("a");
    world.server.failNext("open", new StoreError("unreachable", "nobody there"));
    const first = watch(a.elector.leader());
    await world.clock.settle();
    expect(first.outcome).toMatchObject({ error: { code: "unreachable" } });
    world.server.failNext("queue");
    const second = watch(a.elector.position());
    await world.clock.settle();
    expect(second.outcome).toMatchObject({ error: { code: "connection-lost" } });
    a.client.holdReplies();
    const abort = new AbortController();
    const third = watch(a.elector.leader({ signal: abort.signal }));
    await world.clock.settle();
    const reason = new Error("enough");
    abort.abort(reason);
    await world.clock.settle();
    expect(third.outcome).toEqual({ error: reason });
    a.client.release();
    await world.clock.advance(TTL);
    expect([a.clock.pending, world.server.sessions]).toEqual([0, 0]);
  });

  it("an observer, an inspection and electors share one session of their store value", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const seen = observe(a.tap, "seat", { clock: a.clock });
    await world.clock.settle();
    expect([a.tap.count("open"), world.server.sessions]).toEqual([1, 1]);
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    expect([seen.staleSince, world.server.sessions]).toEqual([null, 1]);
    await Promise.all([seen.close(), world.clock.settle()]);
    expect(world.server.sessions).toBe(0);
  });

  it("two electors of one election on one store value stand for themselves", async () => {
    world = new World();
    const [a] = (await world.lineUp("a")) as [Candidate];
    const b = world.candidate("b", { with: a });
    b.elector.start();
    await world.clock.settle();
    expect(await world.line()).toEqual(["a*", "b"]);
    a.elector.resign();
    await world.clock.settle();
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, true]);
    for (const session of a.client.sessions) world.server.expire(session);
    await world.clock.advance(3000);
    expect([a.elector.isLeader, b.elector.isLeader].filter(Boolean)).toHaveLength(1);
    expect(await world.line()).toHaveLength(2);
    expect(a.tap.count("open")).toBe(2);
  });
});
