import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import { watch } from "./support/watch.js";
import { type Candidate, type CandidateOptions, gate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

function candidate(options: CandidateOptions = {}): Candidate {
  world = new World();
  return world.candidate("a", options);
}

describe("lead: its signal", () => {
  it("aborted: the same as stop(), then it rejects with the reason", async () => {
    const a = candidate();
    const abort = new AbortController();
    const reason = new Error("enough");
    const work = gate<string>();
    const led = watch(a.elector.lead(() => work.promise, { signal: abort.signal }));
    await world.clock.settle();
    abort.abort(reason);
    await world.clock.advance(1000);
    expect(led.outcome).toBe(null);
    expect(a.told).toEqual(["elected", "draining:stopped"]);
    work.open("value");
    await world.clock.settle();
    expect(led.outcome).toEqual({ error: reason });
    expect(a.told.at(-1)).toBe("stopped");
  });

  it("aborted before: it rejects, and nothing is sent", async () => {
    const a = candidate();
    const reason = new Error("enough");
    const led = watch(a.elector.lead(() => 1, { signal: AbortSignal.abort(reason) }));
    await world.clock.settle();
    expect(led.outcome).toEqual({ error: reason });
    expect(a.tap.calls).toHaveLength(0);
    expect(a.elector.state).toBe("idle");
  });
});

describe("lead: errors", () => {
  it("one of the store that no further try cures rejects it", async () => {
    const a = candidate();
    const error = new StoreError("auth", "not you");
    world.server.refuse(error);
    const led = watch(a.elector.lead(() => 1));
    await world.clock.settle();
    expect(led.outcome).toEqual({ error });
    expect(a.told).toEqual(["stopped"]);
  });

  it("the same from look and claim, and nothing is left", async () => {
    for (const call of ["look", "claim"] as const) {
      const a = candidate();
      const error = new StoreError("auth", "not you");
      world.server.failNext(call, error);
      const led = watch(a.elector.lead(() => 1));
      await world.clock.settle();
      expect(led.outcome).toEqual({ error });
      expect(await world.line()).toEqual([]);
      await world.end();
    }
    candidate();
  });

  it("one that also keeps it from withdrawing: the session is closed, and the error ends it all the same", async () => {
    const a = candidate();
    const error = new StoreError("auth", "not you");
    a.tap.around = (call, pass) => (call.name === "look" || call.name === "withdraw" ? Promise.reject(error) : pass());
    const led = watch(a.elector.lead(() => 1));
    await world.clock.advance(1000);
    expect(led.outcome).toEqual({ error });
    expect(a.tap.names()).toEqual(["open", "look", "prove", "withdraw", "close"]);
    expect(a.told).toEqual(["stopped"]);
  });

  it("that the session has ended, said before the session says so itself, is no reason to stop", async () => {
    const a = candidate();
    world.server.failNext("look", new StoreError("session-ended", "expired"));
    const led = watch(a.elector.lead(() => 1));
    await world.clock.advance(TTL);
    expect(led.outcome).toEqual({ value: 1 });
  });

  it("a transient one does not", async () => {
    const a = candidate();
    for (const call of ["open", "look", "claim", "prove", "withdraw"] as const) world.server.failNext(call);
    const led = watch(a.elector.lead(() => 1));
    await world.clock.advance(TTL);
    expect(led.outcome).toEqual({ value: 1 });
  });

  it("twice at once is a TypeError, as is no function; the first goes on", async () => {
    const a = candidate();
    const work = gate<string>();
    const led = watch(a.elector.lead(() => work.promise));
    const second = watch(a.elector.lead(() => "second"));
    const third = watch(a.elector.lead("no function" as never));
    await world.clock.settle();
    expect(second.outcome).toMatchObject({ error: expect.any(TypeError) });
    expect(third.outcome).toMatchObject({ error: expect.any(TypeError) });
    work.open("first");
    await world.clock.settle();
    expect(led.outcome).toEqual({ value: "first" });
  });
});
