import { afterEach, describe, expect, it } from "vitest";
import { checkGrammar } from "./support/grammar.js";
import type { Around } from "./support/tapped-store.js";
import { watch } from "./support/watch.js";
import { type Candidate, type CandidateOptions, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

/** What happens to the candidate while it is not stopped. Takes some seconds. */
type Scenario = (a: Candidate) => Promise<void>;

const scenarios: Record<string, Scenario> = {
  "alone: elected, evicted, elected again": async (a) => {
    a.elector.start();
    await world.clock.advance(1000);
    world.server.evict("a");
    await world.clock.advance(3000);
  },
  "a waiter that is handed the seat, resigns and waits again": async (a) => {
    const [b] = (await world.lineUp("b")) as [Candidate];
    a.elector.start();
    await world.clock.advance(1000);
    b.elector.resign();
    await world.clock.advance(1000);
    a.elector.resign();
    await world.clock.advance(3000);
  },
  "a leader whose session ends": async (a) => {
    a.elector.on("elected", (term) => term.guard(() => "quick"));
    a.elector.start();
    await world.clock.advance(1000);
    for (const session of a.client.sessions) world.server.expire(session);
    await world.clock.advance(4000);
  },
  "lead, with a work that ends when it is drained": async (a) => {
    const [b] = (await world.lineUp("b")) as [Candidate];
    const work = (term: { draining: AbortSignal }) =>
      new Promise<void>((resolve) => term.draining.addEventListener("abort", () => resolve()));
    void a.elector.lead(work).catch(() => {});
    await world.clock.advance(1000);
    b.elector.resign();
    await world.clock.advance(1000);
    a.elector.resign();
    await world.clock.advance(2000);
  },
};

async function expectNothingLeft(a: Candidate, stopped: { outcome: unknown }, when: string): Promise<void> {
  await world.clock.advanceUntil(() => stopped.outcome !== null, 3 * TTL).catch(() => {});
  expect([when, stopped.outcome]).toEqual([when, { value: undefined }]);
  expect([when, a.elector.state, a.clock.pending]).toEqual([when, "stopped", 0]);
  expect([when, (await world.line()).filter((id) => id.startsWith("a"))]).toEqual([when, []]);
  expect([when, a.client.sessions]).toEqual([when, []]);
  checkGrammar(when, a.told);
  expect(a.told.filter((event) => event === "stopped")).toHaveLength(1);
}

/** Runs `scenario` and stops the candidate as its call number `n` is sent or has been answered. False: there was none. */
async function stopAt(
  scenario: Scenario,
  n: number,
  when: "sent" | "answered",
  options: { gap: number; latency: number },
): Promise<boolean> {
  world = new World(options);
  const a = world.candidate("a", { drain: 500 });
  let stopped: { outcome: unknown } | null = null;
  const stop = () => {
    stopped ??= watch(a.elector.stop());
  };
  const around: Around = async (call, pass) => {
    if (call.n === n && when === "sent") stop();
    try {
      return await pass();
    } finally {
      if (call.n === n && when === "answered") stop();
    }
  };
  a.tap.around = around;
  await scenario(a);
  const found = stopped as { outcome: unknown } | null;
  if (found) await expectNothingLeft(a, found, `call ${n}, ${a.tap.calls[n - 1]?.name}, ${when}`);
  await world.end();
  return found !== null;
}

describe("stop() leaves no entry, no session and no timer", () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    for (const when of ["sent", "answered"] as const) {
      it(`as any call is ${when}; ${name}`, async () => {
        for (const options of [
          { gap: 0, latency: 0 },
          { gap: 1100, latency: 7 },
        ]) {
          let n = 1;
          while (await stopAt(scenario, n, when, options)) n++;
          expect(n).toBeGreaterThan(8);
        }
        world = new World();
      });
    }
  }

  it("between any two microtasks of standing and entering", async () => {
    for (let k = 0; k < 80; k++) {
      world = new World();
      const a = world.candidate("a");
      a.elector.start();
      for (let i = 0; i < k; i++) await null;
      await expectNothingLeft(a, watch(a.elector.stop()), `microtask ${k}`);
      await world.end();
    }
    world = new World();
  });

  it("between any two microtasks after being handed the seat, and after a resignation", async () => {
    for (let k = 0; k < 80; k++) {
      world = new World();
      const [b, a] = (await world.lineUp("b", "a")) as [Candidate, Candidate];
      await world.clock.advance(20_000);
      b.elector.resign();
      for (let i = 0; i < k; i++) await null;
      await expectNothingLeft(a, watch(a.elector.stop()), `microtask ${k}`);
      await expectNothingLeft(b, watch(b.elector.stop()), `b, microtask ${k}`);
      await world.end();
    }
    world = new World();
  });

  it("the session ends between any two microtasks of entering: no term is left behind on a dead session", async () => {
    for (let k = 0; k < 80; k++) {
      world = new World();
      const [b, a] = (await world.lineUp("b", "a")) as [Candidate, Candidate];
      await world.clock.advance(20_000);
      b.elector.resign();
      for (let i = 0; i < k; i++) await null;
      for (const session of a.client.sessions) world.server.expire(session);
      await world.clock.advance(2 * TTL);
      const led = a.told.filter((event) => event === "elected").length - a.told.filter((event) => event.startsWith("lost")).length;
      expect([k, led]).toEqual([k, a.elector.isLeader ? 1 : 0]);
      expect([k, a.elector.isLeader || b.elector.isLeader]).toEqual([k, true]);
      await world.end();
    }
    world = new World();
  });

  it("is idempotent, resolves before start(), and by `await using`", async () => {
    world = new World();
    const a = world.candidate("a");
    await a.elector.stop();
    expect(a.elector.state).toBe("idle");
    a.elector.start();
    await world.clock.settle();
    const stops = Promise.all([a.elector.stop(), a.elector.stop(), a.elector[Symbol.asyncDispose]()]);
    await world.clock.settle();
    await stops;
    await a.elector.stop();
    expect(a.told.filter((event) => event === "stopped")).toHaveLength(1);
  });

  it("while the store is unreachable: within the ttl", async () => {
    const options: CandidateOptions = {};
    world = new World();
    const [a, b] = (await world.lineUp("a", "b")) as [Candidate, Candidate];
    const c = world.candidate("c", options);
    world.server.stop();
    c.elector.start();
    const stops = [a, b, c].map(({ elector }) => watch(elector.stop()));
    await world.clock.advance(TTL);
    expect(stops.map(({ outcome }) => outcome)).toEqual([{ value: undefined }, { value: undefined }, { value: undefined }]);
    expect([a, b, c].map(({ clock }) => clock.pending)).toEqual([0, 0, 0]);
  });
});
