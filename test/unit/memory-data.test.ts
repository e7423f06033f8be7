import { describe, expect, it } from "vitest";
import { claim, contend, never, settled, setUp } from "./memory-help.js";

const LOST = { code: "connection-lost", transient: true };

describe("what servers and operators do to a memory store", () => {
  it("a stopped server is unreachable; sessions do not age, and have their full timeout once it is back", async () => {
    const { clock, server } = setUp({ ttl: 15_000 });
    const { session, contender } = await contend(server, clock, "a");
    const held = await claim(contender);
    const unseated = contender.unseated(never);
    await clock.advance(14_000);
    const touch = session.touch(never);
    server.stop();
    await touch.catch((error: unknown) => expect(error).toMatchObject(LOST));
    expect(await settled(unseated)).toBe(true);
    await expect(session.touch(never)).rejects.toMatchObject({ code: "unreachable", transient: true });
    await expect(server.open({ clock }, never)).rejects.toMatchObject({ code: "unreachable" });
    expect(clock.pending).toBe(0);
    await clock.advance(60_000);
    server.start();
    await clock.advance(14_999);
    expect(await contender.look(never)).toMatchObject({ kind: "held", fence: held.fence });
    await clock.advance(15_000);
    expect(session.ended.aborted).toBe(true);
  });

  it("a wiped server knows no session, and its fences start from the lowest", async () => {
    const { clock, server } = setUp();
    const { session, contender } = await contend(server, clock, "a");
    for (let round = 0; round < 5; round++) await claim(session.contend(`x${round}`, { id: "a", metadata: {} }, null));
    const before = await claim(contender);
    const unseated = contender.unseated(never);
    server.wipe();
    expect(await settled(unseated)).toBe(true);
    expect(session.ended.reason).toMatchObject({ code: "session-ended" });
    const again = await contend(server.client(), clock, "b");
    const place = await again.contender.look(never);
    expect(place).toMatchObject({ kind: "head", seen: 0n });
    const after = await claim(again.contender);
    expect(after.fence).toBeLessThan(before.fence);
    expect(after.number).toBe(1);
  });

  it("a wipe behind a partition is found out when it heals", async () => {
    const { clock, server } = setUp();
    const client = server.client();
    const { session } = await contend(client, clock, "a");
    client.partition();
    server.wipe();
    expect(session.ended.aborted).toBe(false);
    client.heal();
    await settled(Promise.resolve());
    expect(session.ended.aborted).toBe(true);
  });

  it("a restored snapshot with its sessions: the same holder, at a lower fence", async () => {
    const { clock, server } = setUp({ ttl: 15_000 });
    const { session, contender } = await contend(server, clock, "a");
    const first = await claim(contender);
    const second = await contend(server.client(), clock, "b");
    await second.contender.look(never);
    const snapshot = server.snapshot();
    const late = await contend(server.client(), clock, "c");
    await contender.withdraw("hand-over", never);
    const highest = await second.contender.look(never);
    expect(highest.seen).toBeGreaterThan(first.fence);
    server.restore(snapshot);
    await settled(Promise.resolve());
    expect(late.session.ended.aborted).toBe(true);
    expect(session.ended.aborted).toBe(false);
    expect(await session.leader("e", never)).toMatchObject({ id: "a", fence: first.fence });
    const place = await second.contender.look(never);
    expect(place).toMatchObject({ kind: "behind", seen: first.fence });
  });

  it("a session that a snapshot brings back expires by its timeout", async () => {
    const { clock, server } = setUp({ ttl: 15_000 });
    const gone = await contend(server.client(), clock, "a");
    await claim(gone.contender);
    const snapshot = server.snapshot();
    await gone.session.close(never);
    server.restore(snapshot);
    const next = await contend(server.client(), clock, "b");
    const place = await next.contender.look(never);
    expect(place.kind).toBe("behind");
    const moved = next.contender.moved(place, never);
    await clock.advance(14_000);
    await next.session.touch(never);
    expect(await settled(moved)).toBe(false);
    await clock.advance(1000);
    expect(await settled(moved)).toBe(true);
  });

  it("a restored snapshot without its sessions: everybody has to come again", async () => {
    const { clock, server } = setUp();
    const { session, contender } = await contend(server, clock, "a");
    const held = await claim(contender);
    server.restore(server.snapshot(), "lost");
    await settled(Promise.resolve());
    expect(session.ended.aborted).toBe(true);
    const again = await contend(server.client(), clock, "b");
    expect(await again.contender.look(never)).toMatchObject({ kind: "head", seen: held.fence });
  });

  it("lock-delay: after a timeout the seat refuses claims for so long, and says how long to wait", async () => {
    const { clock, server } = setUp({ ttl: 15_000, lockDelay: 1000 });
    const leader = await contend(server.client(), clock, "a");
    await claim(leader.contender);
    const next = await contend(server.client(), clock, "b");
    await next.contender.look(never);
    server.expire(leader.session.id);
    const place = await next.contender.look(never);
    if (place.kind !== "head") throw new Error(place.kind);
    expect(await next.contender.claim(place, never)).toEqual({ kind: "refused", wait: 1000 });
    await clock.advance(400);
    expect(await next.contender.claim(place, never)).toEqual({ kind: "refused", wait: 600 });
    await clock.advance(600);
    expect(await next.contender.claim(place, never)).toMatchObject({ kind: "held", number: 2 });
  });

  it("no lock-delay after a withdrawal or a close, nor for the end of one who waits", async () => {
    const { clock, server } = setUp({ lockDelay: 1000 });
    const leader = await contend(server.client(), clock, "a");
    await claim(leader.contender);
    const waiter = await contend(server.client(), clock, "b");
    await waiter.contender.look(never);
    server.expire(waiter.session.id);
    await leader.session.close(never);
    const next = await contend(server.client(), clock, "c");
    expect((await claim(next.contender)).number).toBe(2);
  });

  it("a lagging replica shows old states, though nothing older than what its client has written or was told", async () => {
    const { clock, server } = setUp();
    const reader = server.client();
    reader.lagBy(3);
    const session = await reader.open({ clock }, never);
    const leader = await contend(server.client(), clock, "a");
    await claim(leader.contender);
    expect(await session.leader("e", never)).toBeNull();
    expect(await session.queue("e", never)).toEqual([]);
    const mine = session.contend("e", { id: "b", metadata: {} }, null);
    const place = await mine.look(never);
    expect(place.kind).toBe("behind");
    expect(await session.queue("e", never)).toHaveLength(2);
    await leader.contender.withdraw("free", never);
    expect((await mine.look(never)).kind).toBe("behind");
    await mine.moved(place, never);
    expect((await mine.look(never)).kind).toBe("head");
  });

  it("a claim from a lagging look is refused", async () => {
    const { clock, server } = setUp();
    const lagging = server.client();
    const first = await contend(lagging, clock, "a");
    const place = await first.contender.look(never);
    server.supersede("e");
    lagging.lagBy(1);
    const stale = await first.contender.look(never);
    expect(stale.seen).toBe(place.seen);
    if (stale.kind !== "head") throw new Error(stale.kind);
    expect(await first.contender.claim(stale, never)).toEqual({ kind: "refused", wait: 0 });
  });
});
