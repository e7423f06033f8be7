import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { ManualClock } from "../../src/manual-clock.js";
import type { HeadPlace } from "../../src/store.js";

const never = new AbortController().signal;

describe("the memory store", () => {
  it("seats the first, and the next one after its session has expired", async () => {
    const clock = new ManualClock();
    const server = memory({ clock });
    const a = server.client("a");
    const first = await a.open({ clock }, never);
    const second = await server.client("b").open({ clock }, never);
    const ca = first.contend("e", { id: "a", metadata: {} }, null);
    const cb = second.contend("e", { id: "b", metadata: {} }, null);
    const head = await ca.look(never);
    expect(head.kind).toBe("head");
    const held = await ca.claim(head as HeadPlace, never);
    expect(held).toMatchObject({ kind: "held", number: 1 });
    const place = await cb.look(never);
    expect(place.kind).toBe("behind");
    let moved = false;
    void cb.moved(place, never).then(() => {
      moved = true;
    });
    a.crash();
    await clock.advance(14_000);
    await second.touch(never);
    expect(moved).toBe(false);
    await clock.advance(1000);
    expect(moved).toBe(true);
    const next = await cb.look(never);
    expect(await cb.claim(next as HeadPlace, never)).toMatchObject({ kind: "held", number: 2 });
    await second.close(never);
    expect(clock.pending).toBe(0);
  });
});
