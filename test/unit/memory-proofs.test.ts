import { describe, expect, it } from "vitest";
import { elapsed } from "../../src/clock.js";
import { claim, contend, never, settled, setUp } from "./memory-help.js";

describe("what a proof on the memory store vouches for", () => {
  it("its own sending, where the gap is 0: not its arrival, nor its answer", async () => {
    const { clock, server } = setUp({ ttl: 15_000, latency: 100 });
    const opening = server.open({ clock }, never);
    await clock.advance(200);
    const session = await opening;
    const sentAt = clock.mono();
    const proof = session.prove(never);
    await clock.advance(200);
    expect((await proof).vouchedAt.mono).toBe(sentAt);
    await clock.advance(15_100 - 200 - 1);
    expect(session.ended.aborted).toBe(false);
  });

  it("the newest request answered `gap` before, where there is one; else the handshake", async () => {
    const { clock, server } = setUp({ ttl: 8000, gap: 1000 });
    const openedAt = clock.mono();
    const session = await server.open({ clock }, never);
    await clock.advance(900);
    await session.touch(never);
    await clock.advance(999);
    expect((await session.prove(never)).vouchedAt.mono).toBe(openedAt);
    await clock.advance(1);
    expect((await session.prove(never)).vouchedAt.mono).toBe(openedAt + 900);
  });

  it("a request counts from its answer on, and vouches for its sending", async () => {
    const { clock, server } = setUp({ ttl: 8000, gap: 1000 });
    const client = server.client();
    const openedAt = clock.mono();
    const session = await client.open({ clock }, never);
    await clock.advance(100);
    client.holdReplies();
    const touch = session.touch(never);
    await clock.advance(900);
    client.release();
    await touch;
    await clock.advance(999);
    expect((await session.prove(never)).vouchedAt.mono).toBe(openedAt);
    await clock.advance(1);
    expect((await session.prove(never)).vouchedAt.mono).toBe(openedAt + 100);
  });

  it("a step of the wall clock makes no request older than it is", async () => {
    const { clock, server } = setUp({ ttl: 8000, gap: 1000 });
    const openedAt = clock.mono();
    const session = await server.open({ clock }, never);
    await clock.advance(100);
    await session.touch(never);
    clock.stepWall(5000);
    await clock.advance(100);
    expect((await session.prove(never)).vouchedAt.mono).toBe(openedAt);
  });

  it("nothing that was sent on an earlier connection counts", async () => {
    const { clock, server } = setUp({ ttl: 8000, gap: 1000 });
    const client = server.client();
    const session = await client.open({ clock }, never);
    await session.touch(never);
    await clock.advance(500);
    const reconnectedAt = clock.mono();
    client.reset();
    await clock.advance(1500);
    expect((await session.prove(never)).vouchedAt.mono).toBe(reconnectedAt);
  });

  it("a touch counts at the server as late as the gap allows: it is lost when its replica is cut off before", async () => {
    const { clock, server } = setUp({ ttl: 8000, gap: 1000 });
    const client = server.client();
    const { session, contender } = await contend(client, clock, "a");
    await claim(contender);
    await clock.advance(4000);
    await session.touch(never);
    await session.prove(never);
    await clock.advance(800);
    client.strand();
    await clock.advance(3199);
    expect(server.sessions).toBe(1);
    await clock.advance(1);
    expect(server.sessions).toBe(0);
  });

  it("a session is never ended before the newest proof's instant plus ttl, wherever the replica is cut off", async () => {
    for (const touchedAt of [300, 700, 999, 1000, 1500]) {
      for (const cutAfter of [0, 1, 99, 101, 899, 901, 1001]) {
        const { clock, server } = setUp({ ttl: 8000, gap: 1000, latency: 1 });
        const client = server.client();
        const opening = client.open({ clock }, never);
        await clock.advance(2);
        const session = await opening;
        await clock.advance(touchedAt);
        const touch = session.touch(never);
        await clock.advance(2);
        await touch;
        await clock.advance(cutAfter);
        const proof = session.prove(never);
        await clock.advance(2);
        const { vouchedAt } = await proof;
        client.strand();
        await clock.advanceUntil(() => server.sessions === 0, 20_000);
        expect(elapsed(clock, vouchedAt), `touched at ${touchedAt}, cut ${cutAfter} later`).toBeGreaterThanOrEqual(8000);
      }
    }
  });

  it("a replica that is cut off answers touches and reads, and neither proofs nor writes", async () => {
    const { clock, server } = setUp({ ttl: 8000 });
    const client = server.client();
    const { session, contender } = await contend(client, clock, "a");
    const held = await claim(contender);
    const waiter = await contend(server.client(), clock, "b");
    await waiter.contender.look(never);
    const unseated = contender.unseated(never);
    client.strand();
    await clock.advance(5000);
    await waiter.session.touch(never);
    await clock.advance(3000);
    await waiter.session.touch(never);
    const next = await claim(waiter.contender);
    expect(next.fence).toBeGreaterThan(held.fence);
    await session.touch(never);
    expect(await contender.look(never)).toMatchObject({ kind: "held", fence: held.fence });
    expect(await session.leader("e", never)).toMatchObject({ id: "a" });
    const proof = session.prove(never);
    expect(await settled(proof)).toBe(false);
    expect(await settled(unseated)).toBe(false);
    expect(session.ended.aborted).toBe(false);
    client.unstrand();
    await expect(proof).rejects.toMatchObject({ code: "connection-lost" });
    expect(await settled(unseated)).toBe(true);
    expect(session.ended.reason).toMatchObject({ code: "session-ended" });
  });
});
