import { afterEach, describe, expect, it, vi } from "vitest";
import { type Candidate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

describe("what a listener changes", () => {
  it.each(["resign", "stop"] as const)("%s() in an `elected` listener: the others hear `elected` first", async (how) => {
    world = new World();
    const order: string[] = [];
    const a = world.candidate("a");
    const note = (name: string) => () => void order.push(name);
    a.elector.once("elected", () => void a.elector[how]());
    a.elector.on("elected", note("elected, too"));
    a.elector.on("draining", note("draining"));
    a.elector.on("lost", note("lost"));
    a.elector.start();
    await world.clock.settle();
    expect(order.slice(0, 3)).toEqual(["elected, too", "draining", "lost"]);
    expect(a.told.slice(0, 2)).toEqual(["elected", how === "stop" ? "draining:stopped" : "draining:resigned"]);
  });

  it("stop() in any listener ends it without overlap, and with every event in order", async () => {
    for (const event of ["standby", "elected", "suspect", "restored", "draining", "lost", "warning"] as const) {
      world = new World();
      const a = world.candidate("a");
      let depth = 0;
      let deepest = 0;
      for (const name of ["standby", "elected", "suspect", "restored", "draining", "lost", "stopped"] as const) {
        a.elector.on(name, () => {
          deepest = Math.max(deepest, ++depth);
          if (name === event) void a.elector.stop();
          depth--;
        });
      }
      a.elector.on("warning", () => void (event === "warning" && a.elector.stop()));
      const [b] = await world.lineUp("b");
      a.elector.start();
      await world.clock.settle();
      await b?.elector.stop();
      a.client.holdReplies();
      await world.clock.advance(5000);
      a.client.release();
      await world.clock.advance(2000);
      world.server.evict("a");
      await world.clock.advance(5000);
      if (event === "warning") {
        a.elector.on("lost", () => {
          throw new Error("listener");
        });
        world.server.evict("a");
        await world.clock.advance(5000);
      }
      if (event === "draining") a.elector.resign();
      await world.clock.advance(5000);
      expect([event, a.elector.state, a.told.at(-1)]).toEqual([event, "stopped", "stopped"]);
      expect(deepest).toBe(1);
      await world.end();
    }
    world = new World();
  });

  it("start() in a `stopped` listener stands again", async () => {
    world = new World();
    const a = world.candidate("a");
    a.elector.once("stopped", () => {
      a.told.push("started");
      a.elector.start();
    });
    a.elector.start();
    await world.clock.settle();
    const stopped = a.elector.stop();
    await world.clock.settle();
    expect(a.told).toEqual(["elected", "draining:stopped", "lost:stopped", "stopped", "started", "elected"]);
    expect(a.elector.isLeader).toBe(true);
    const again = a.elector.stop();
    await world.clock.settle();
    await Promise.all([stopped, again]);
    expect(a.elector.state).toBe("stopped");
  });

  it("start() while standing is a TypeError that names the election", async () => {
    world = new World();
    const a = world.candidate("a");
    a.elector.start();
    expect(() => a.elector.start()).toThrow(TypeError);
    expect(() => a.elector.start()).toThrow(/"seat" stands already/);
  });

  it("resign() when not leading does nothing", async () => {
    world = new World();
    const [, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    b.elector.resign();
    await world.clock.advance(TTL);
    expect(await world.line()).toEqual(["a*", "b"]);
    world.candidate("c").elector.resign();
  });
});

describe("a listener that fails", () => {
  it.each(["standby", "elected", "suspect", "restored", "draining", "lost", "stopped"] as const)(
    "of `%s`, by throwing or rejecting: reaches `warning`, never the core",
    async (event) => {
      world = new World();
      const [b] = await world.lineUp("b");
      const a = world.candidate("a");
      const heard: string[] = [];
      a.elector.on(event, () => {
        throw new Error("thrown");
      });
      a.elector.on(event, (() => Promise.reject(new Error("rejected"))) as never);
      a.elector.on(event, () => {
        throw "no error";
      });
      a.elector.on(event, () => void heard.push(event));
      a.elector.start();
      await world.clock.settle();
      await b?.elector.stop();
      a.client.holdReplies();
      await world.clock.advance(5000);
      a.client.release();
      await world.clock.advance(2000);
      await Promise.all([a.elector.stop(), world.clock.settle()]);
      await world.clock.settle();
      expect(a.told).toEqual(["standby", "elected", "suspect", "restored", "draining:stopped", "lost:stopped", "stopped"]);
      expect(heard).toEqual([event]);
      expect(a.warnings.map(({ message }) => message).sort()).toEqual(
        [`listener of "${event}" failed: "no error"`, "rejected", "thrown"].sort(),
      );
    },
  );

  it("of `warning` itself is logged, and not told again and again", async () => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    world = new World();
    const a = world.candidate("a", { logger });
    let calls = 0;
    a.elector.on("warning", () => {
      if (++calls > 10) return;
      throw new Error("of warning");
    });
    a.elector.on("warning", (async () => {
      if (calls <= 10) throw new Error("of warning, later");
    }) as never);
    a.elector.on("elected", () => {
      throw new Error("of elected");
    });
    a.elector.start();
    await world.clock.settle();
    expect(calls).toBe(1);
    const logged = [...logger.warn.mock.calls, ...logger.error.mock.calls].map(([, message]) => String(message));
    expect(logged.filter((message) => message.includes('of "warning"'))).toHaveLength(2);
  });

  it("throwing what cannot be shown", async () => {
    world = new World();
    const a = world.candidate("a");
    a.elector.on("elected", () => {
      throw Object.create(null);
    });
    a.elector.on("elected", () => {
      throw {
        toString: () => {
          throw new Error("hostile");
        },
      };
    });
    a.elector.start();
    await world.clock.settle();
    expect(a.warnings).toHaveLength(2);
    a.elector.resign();
    await world.clock.settle();
    expect(a.told).toContain("lost:resigned");
  });

  it("a logger that throws changes nothing", async () => {
    const fail = () => {
      throw new Error("logger");
    };
    world = new World();
    const a = world.candidate("a", { logger: { debug: fail, info: fail, warn: fail, error: fail } });
    a.elector.on("elected", (term) => term.waitUntil(Promise.reject(new Error("work"))));
    a.elector.start();
    await world.clock.settle();
    expect(a.elector.isLeader).toBe(true);
    await world.clock.advance(TTL);
    expect(a.elector.isLeader).toBe(true);
  });
});
