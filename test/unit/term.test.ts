import { afterEach, describe, expect, it } from "vitest";
import type { Term } from "../../src/term.js";
import { type Candidate, gate, World } from "./support/world.js";

const TTL = 10_000;
const SPAN = TTL - 250;

let world: World;
afterEach(() => world.end());

async function leader(): Promise<Candidate & { term: Term }> {
  world = new World();
  const a = world.candidate("a");
  a.elector.start();
  await world.clock.settle();
  return { ...a, term: a.elector.term as Term };
}

const settled = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );

describe("a term", () => {
  it("says what it is", async () => {
    const { term, clock } = await leader();
    expect(term).toMatchObject({ election: "seat", number: 1, since: new Date(clock.wall()) });
    expect(term.token).toBe(term.fence.toString());
    expect(typeof term.fence).toBe("bigint");
    expect(BigInt(term.token)).toBe(term.fence);
  });
});

describe("assertValid", () => {
  it("passes until the deadline, and throws a LostError from then on", async () => {
    const { term, client } = await leader();
    client.holdReplies();
    term.waitUntil(new Promise((resolve) => term.signal.addEventListener("abort", resolve)));
    await world.clock.advance(SPAN - 1);
    term.assertValid();
    await world.clock.advance(1);
    expect(() => term.assertValid()).toThrow(expect.objectContaining({ code: "lost" }));
  });

  it("with needs: only while more than that is left", async () => {
    const { term } = await leader();
    term.assertValid(SPAN - 1);
    expect(() => term.assertValid(SPAN)).toThrow(/less than 9750 ms/);
    await world.clock.advance(1000);
    expect(() => term.assertValid(SPAN - 1000)).toThrow(expect.objectContaining({ code: "lost" }));
    term.assertValid(SPAN - 1001);
    expect(() => term.assertValid(Number.NaN)).toThrow();
    expect(term.valid).toBe(true);
  });

  it("names the reason once the term is over", async () => {
    const { term } = await leader();
    world.server.evict("a");
    await world.clock.settle();
    expect(() => term.assertValid()).toThrow(expect.objectContaining({ reason: "evicted" }));
  });
});

describe("guard", () => {
  it("resolves with the result, and rejects with the operation's own error", async () => {
    const { term } = await leader();
    expect(await term.guard(() => 1)).toBe(1);
    expect(await term.guard(async () => 2)).toBe(2);
    const own = new Error("own");
    expect(await settled(term.guard(() => Promise.reject(own)))).toEqual({ error: own });
    expect(
      await settled(
        term.guard(() => {
          throw own;
        }),
      ),
    ).toEqual({ error: own });
    expect(term.valid).toBe(true);
  });

  it("does not run the operation when the term is over, or has less left than it needs", async () => {
    const { term, clock } = await leader();
    let ran = 0;
    expect(await settled(term.guard(() => ran++, { needs: SPAN }))).toMatchObject({ error: { code: "lost" } });
    clock.stepWall(SPAN);
    expect(await settled(term.guard(() => ran++))).toMatchObject({ error: { reason: "deadline", result: undefined } });
    expect(ran).toBe(0);
  });

  it("checks again afterwards: the error carries the result, for it may have taken effect", async () => {
    const { term, client } = await leader();
    const write = gate<string>();
    const outcome = settled(term.guard(() => write.promise));
    client.partition();
    await world.clock.advance(SPAN);
    write.open("written");
    expect(await outcome).toMatchObject({ error: { code: "lost", reason: "overrun", result: "written", cause: { code: "lost" } } });
    client.heal();
  });

  it("checks again by the clock, before any event (a pause during the operation)", async () => {
    const { term, clock, told } = await leader();
    const write = gate<string>();
    const outcome = settled(term.guard(() => write.promise));
    clock.pause();
    await world.clock.advance(SPAN);
    write.open("written");
    expect(await outcome).toMatchObject({ error: { reason: "deadline", result: "written" } });
    expect(told).toEqual(["elected"]);
    await clock.resume();
  });

  it("gives a signal that aborts at the deadline, with a LostError as its reason", async () => {
    const { term, client, told } = await leader();
    let signal: AbortSignal | null = null;
    const outcome = settled(
      term.guard(
        (given) =>
          new Promise((_, reject) => {
            signal = given;
            given.addEventListener("abort", () => reject(given.reason));
          }),
      ),
    );
    client.partition();
    await world.clock.advance(SPAN - 1);
    expect((signal as unknown as AbortSignal).aborted).toBe(false);
    await world.clock.advance(1);
    expect(await outcome).toMatchObject({ error: { code: "lost", reason: "overrun" } });
    expect(told.at(-1)).toBe("lost:overrun");
    client.heal();
  });

  it("holds the seat until the operation has settled", async () => {
    const { term, elector, told } = await leader();
    const [b] = await world.lineUp("b");
    const write = gate();
    void term.guard(() => write.promise);
    elector.resign();
    await world.clock.advance(5000);
    expect(told).toEqual(["elected", "draining:resigned"]);
    expect(await world.line()).toEqual(["a*", "b"]);
    write.open();
    await world.clock.settle();
    expect(b?.elector.isLeader).toBe(true);
  });
});

describe("waitUntil", () => {
  it("holds the seat until all have settled, also those added while it waits; a rejection is a warning", async () => {
    const { term, elector, warnings } = await leader();
    const [b] = await world.lineUp("b");
    const first = gate();
    const second = gate();
    term.waitUntil(first.promise);
    elector.resign();
    await world.clock.settle();
    term.waitUntil(second.promise);
    first.fail(new Error("first"));
    await world.clock.settle();
    expect(b?.elector.state).toBe("standby");
    second.open();
    await world.clock.settle();
    expect(b?.elector.isLeader).toBe(true);
    expect(warnings.map(({ message }) => message)).toEqual(["first"]);
  });

  it("is taken while the term is over and its work has not settled; throws afterwards", async () => {
    const { term, client, elector } = await leader();
    const first = gate();
    const second = gate();
    term.waitUntil(first.promise);
    client.partition();
    await world.clock.advance(SPAN);
    expect(elector.state).toBe("ending");
    term.waitUntil(second.promise);
    first.open();
    await world.clock.settle();
    expect(elector.state).toBe("ending");
    second.open();
    await world.clock.settle();
    expect(elector.state).not.toBe("ending");
    expect(() => term.waitUntil(Promise.resolve())).toThrow(expect.objectContaining({ code: "lost" }));
    client.heal();
  });

  it("takes what is no promise, and thenables that misbehave", async () => {
    const { term, elector, warnings, told } = await leader();
    term.waitUntil("nothing" as never);
    term.waitUntil({
      // biome-ignore lint/suspicious/noThenProperty: a thenable that misbehaves is the point.
      then: () => {
        throw new Error("bad thenable");
      },
    } as never);
    elector.resign();
    await world.clock.settle();
    expect(told).toContain("lost:resigned");
    expect(warnings.map(({ message }) => message)).toEqual(["bad thenable"]);
  });
});
