import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import type { Term } from "../../src/term.js";
import { watch } from "./support/watch.js";
import { type Candidate, type CandidateOptions, gate, World } from "./support/world.js";

const TTL = 10_000;

let world: World;
afterEach(() => world.end());

function candidate(options: CandidateOptions = {}): Candidate {
  world = new World();
  return world.candidate("a", options);
}

describe("lead: the work's own end", () => {
  it("a return resolves it, after the withdrawal", async () => {
    const a = candidate();
    const led = watch(a.elector.lead((term) => term.token));
    await world.clock.settle();
    expect(led.outcome).toEqual({ value: expect.stringMatching(/^\d+$/) });
    expect(a.told).toEqual(["elected", "draining:resigned", "lost:resigned", "stopped"]);
    expect(await world.line()).toEqual([]);
    expect(a.elector.state).toBe("stopped");
  });

  it("a throw withdraws and rejects", async () => {
    const a = candidate();
    const own = new Error("own");
    for (const work of [
      () => {
        throw own;
      },
      () => Promise.reject(own),
    ]) {
      const led = watch(a.elector.lead(work));
      await world.clock.settle();
      expect(led.outcome).toEqual({ error: own });
      expect(await world.line()).toEqual([]);
      a.told.push("started");
    }
    a.told.pop();
    expect(a.warnings).toEqual([]);
  });

  it("undefined is a value too", async () => {
    const a = candidate();
    const led = watch(a.elector.lead(() => undefined));
    await world.clock.settle();
    expect(led.outcome).toEqual({ value: undefined });
  });
});

describe("lead: a term that ends first", () => {
  it("yields: what the work returns does not count, and the candidate stands again once it has settled", async () => {
    const a = candidate();
    const runs: Term[] = [];
    const works = [gate<string>(), gate<string>()];
    const led = watch(
      a.elector.lead((term) => {
        runs.push(term);
        return works[runs.length - 1]?.promise;
      }),
    );
    await world.clock.settle();
    a.client.partition();
    await world.clock.advance(3 * TTL);
    a.client.heal();
    await world.clock.advance(TTL);
    expect(runs).toHaveLength(1);
    expect(await world.line()).toEqual([]);
    works[0]?.open("first");
    await world.clock.advanceUntil(() => runs.length === 2, TTL);
    expect(led.outcome).toBe(null);
    works[1]?.open("second");
    await world.clock.settle();
    expect(led.outcome).toEqual({ value: "second" });
  });

  it("an outcome of the drained work that is an error goes to `warning`, unless it is ours or an abort", async () => {
    const a = candidate();
    let run = 0;
    const errors = [new Error("real"), new DOMException("aborted", "AbortError"), new StoreError("timeout", "ours")];
    const led = watch(
      a.elector.lead(
        (term) =>
          new Promise((resolve, reject) => {
            const error = errors[run++];
            if (!error) return resolve("done");
            term.draining.addEventListener("abort", () => reject(error));
          }),
      ),
    );
    for (let n = 1; n <= errors.length; n++) {
      await world.clock.advanceUntil(() => run === n && a.elector.isLeader, TTL);
      a.elector.resign();
      await world.clock.settle();
    }
    await world.clock.advanceUntil(() => led.outcome !== null, TTL);
    expect(led.outcome).toEqual({ value: "done" });
    expect(a.warnings).toEqual([errors[0]]);
  });

  it("rethrowing the reason of term.signal is no warning", async () => {
    const a = candidate();
    let run = 0;
    const led = watch(
      a.elector.lead(async (term) => {
        if (run++ > 0) return "again";
        await new Promise((_, reject) => term.signal.addEventListener("abort", () => reject(term.signal.reason)));
      }),
    );
    await world.clock.settle();
    world.server.evict("a");
    await world.clock.advanceUntil(() => led.outcome !== null, TTL);
    expect(led.outcome).toEqual({ value: "again" });
    expect(a.warnings).toEqual([]);
  });

  it("a return after the deadline, before any event, does not count", async () => {
    const a = candidate();
    const work = gate<string>();
    let runs = 0;
    const led = watch(a.elector.lead(() => (runs++ === 0 ? work.promise : "second")));
    await world.clock.settle();
    a.clock.pause();
    await world.clock.advance(TTL - 250);
    work.open("too late");
    await world.clock.settle();
    expect(led.outcome).toBe(null);
    await a.clock.resume();
    await world.clock.advanceUntil(() => led.outcome !== null, TTL);
    expect(led.outcome).toEqual({ value: "second" });
  });
});

describe("lead: stop()", () => {
  it("drains, waits for the work, and resolves with its value", async () => {
    const a = candidate();
    const led = watch(
      a.elector.lead(async (term) => {
        await new Promise((resolve) => term.draining.addEventListener("abort", resolve));
        return "in the end";
      }),
    );
    await world.clock.settle();
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    expect(led.outcome).toEqual({ value: "in the end" });
  });

  it("a throw after it goes to `warning`, and it resolves with undefined", async () => {
    const a = candidate();
    const late = new Error("late");
    const led = watch(
      a.elector.lead(async (term) => {
        await new Promise((resolve) => term.draining.addEventListener("abort", resolve));
        throw late;
      }),
    );
    await world.clock.settle();
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    expect(led.outcome).toEqual({ value: undefined });
    expect(a.warnings).toEqual([late]);
  });

  it("before being elected, and in an `elected` listener: undefined, the work never ran", async () => {
    world = new World();
    const [, b] = (await world.lineUp("x", "unused")) as [Candidate, Candidate];
    await Promise.all([b.elector.stop(), world.clock.settle()]);
    const a = world.candidate("a");
    let ran = 0;
    const led = watch(a.elector.lead(() => ran++));
    await world.clock.settle();
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    expect(led.outcome).toEqual({ value: undefined });
    const c = world.candidate("c", { election: "another" });
    c.elector.on("elected", () => void c.elector.stop());
    const ledC = watch(c.elector.lead(() => ran++));
    await world.clock.settle();
    expect(ledC.outcome).toEqual({ value: undefined });
    expect(ran).toBe(0);
  });

  it("between two terms: what a yielded run returned is not its value", async () => {
    const a = candidate();
    const led = watch(
      a.elector.lead((term) => new Promise((resolve) => term.draining.addEventListener("abort", () => resolve("yielded")))),
    );
    await world.clock.settle();
    const [b] = (await world.lineUp("b")) as [Candidate];
    a.elector.resign();
    await world.clock.advance(10);
    expect([a.elector.state, b.elector.isLeader]).toEqual(["standby", true]);
    await Promise.all([a.elector.stop(), world.clock.settle()]);
    expect(led.outcome).toEqual({ value: undefined });
  });

  it("while a yielded run is still working: its value counts", async () => {
    const a = candidate();
    const work = gate<string>();
    const led = watch(a.elector.lead(() => work.promise));
    await world.clock.settle();
    a.elector.resign();
    await world.clock.settle();
    const stopped = a.elector.stop();
    await world.clock.settle();
    work.open("asked for");
    await Promise.all([stopped, world.clock.settle()]);
    expect(led.outcome).toEqual({ value: "asked for" });
  });
});
