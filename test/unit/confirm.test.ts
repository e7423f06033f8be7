import { afterEach, describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import type { Term } from "../../src/term.js";
import { swallow } from "./support/tapped-store.js";
import { type Candidate, World } from "./support/world.js";

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

describe("confirm", () => {
  it("gets a fresh proof", async () => {
    const { term, tap } = await leader();
    await world.clock.advance(1500);
    const proofs = tap.count("prove");
    await term.confirm();
    expect(tap.count("prove")).toBe(proofs + 1);
    expect(term.remaining()).toBe(SPAN);
  });

  it("rejects with a LostError when the term is over, asked before or after", async () => {
    const { term, client, elector } = await leader();
    client.partition();
    term.waitUntil(new Promise((resolve) => term.signal.addEventListener("abort", resolve)));
    await world.clock.advance(SPAN - 10);
    const outcome = settled(term.confirm());
    await world.clock.advance(10);
    expect(elector.isLeader).toBe(false);
    expect(await outcome).toMatchObject({ error: { code: "lost" } });
    expect(await settled(term.confirm())).toMatchObject({ error: { code: "lost" } });
    client.heal();
  });

  it("rejects with a LostError when the proof comes too late", async () => {
    const { term, client, clock } = await leader();
    client.holdReplies();
    const outcome = settled(term.confirm());
    clock.pause();
    await world.clock.advance(SPAN);
    client.release();
    await world.clock.settle();
    expect(await outcome).toMatchObject({ error: { code: "lost" } });
    await clock.resume();
  });

  it("rejects with a StoreError when no proof came and the term goes on", async () => {
    const { term, tap } = await leader();
    let lost = 0;
    tap.around = (call, pass) =>
      call.name === "prove" && lost++ === 0 ? Promise.reject(new StoreError("connection-lost", "broke")) : pass();
    expect(await settled(term.confirm())).toMatchObject({ error: { code: "connection-lost" } });
    tap.around = (call, pass) => (call.name === "prove" ? swallow() : pass());
    const outcome = settled(term.confirm());
    await world.clock.advance(SPAN / 2);
    expect(await outcome).toMatchObject({ error: { code: "timeout" } });
    expect(term.valid).toBe(true);
    tap.around = (_, pass) => pass();
  });
});
