import { describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import { claim, contend, never, settled, setUp } from "./memory-help.js";

const LOST = { code: "connection-lost", transient: true };

describe("faults of the memory store", () => {
  it("a lost reply: the call fails, and it took effect", async () => {
    const { clock, server } = setUp();
    const { session, contender } = await contend(server, clock, "a");
    server.loseReply("look");
    await expect(contender.look(never)).rejects.toMatchObject(LOST);
    expect(await session.queue("e", never)).toHaveLength(1);
    const place = await contender.look(never);
    expect(await session.queue("e", never)).toHaveLength(1);
    server.loseReply("claim");
    if (place.kind !== "head") throw new Error(place.kind);
    await expect(contender.claim(place, never)).rejects.toMatchObject(LOST);
    expect(await contender.look(never)).toMatchObject({ kind: "held", number: 1 });
    server.loseReply("withdraw");
    await expect(contender.withdraw("free", never)).rejects.toMatchObject(LOST);
    expect(await session.queue("e", never)).toEqual([]);
    await contender.withdraw("free", never);
  });

  it("a lost request: the call fails, and nothing happened", async () => {
    const { clock, server } = setUp();
    const { session, contender } = await contend(server, clock, "a");
    server.failNext("look");
    await expect(contender.look(never)).rejects.toMatchObject(LOST);
    expect(await session.queue("e", never)).toEqual([]);
    server.failNext("touch", new StoreError("too-large", "no"));
    await expect(session.touch(never)).rejects.toMatchObject({ code: "too-large" });
    await session.touch(never);
  });

  it("silence: the call took effect and is never answered", async () => {
    const { clock, server } = setUp();
    const { session, contender } = await contend(server, clock, "a");
    server.loseReply("look", "silence");
    const controller = new AbortController();
    const look = contender.look(controller.signal);
    expect(await settled(look)).toBe(false);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(look).rejects.toBe(reason);
    expect(await session.queue("e", never)).toHaveLength(1);
  });

  it("faults befall calls of their kind, in order; those of a client only its own", async () => {
    const { clock, server } = setUp();
    const [one, two] = [server.client(), server.client()];
    const [a, b] = [await one.open({ clock }, never), await two.open({ clock }, never)];
    one.failNext("any");
    one.failNext("any", new StoreError("rejected", "second"));
    server.failNext("prove");
    await b.touch(never);
    await expect(a.touch(never)).rejects.toMatchObject(LOST);
    await expect(a.prove(never)).rejects.toMatchObject({ code: "rejected" });
    await expect(b.prove(never)).rejects.toMatchObject(LOST);
    await b.prove(never);
  });

  it("refuses every call until it accepts again", async () => {
    const { clock, server } = setUp();
    server.refuse();
    const auth = { code: "auth", transient: false };
    await expect(server.open({ clock }, never)).rejects.toMatchObject(auth);
    server.accept();
    const session = await server.open({ clock }, never);
    server.refuse();
    await expect(session.touch(never)).rejects.toMatchObject(auth);
  });

  it("a partition swallows everything, and the session expires; after it the client learns that", async () => {
    const { clock, server } = setUp({ ttl: 15_000 });
    const client = server.client();
    const { session, contender } = await contend(client, clock, "a");
    await claim(contender);
    const unseated = contender.unseated(never);
    client.partition();
    const touch = session.touch(never);
    await clock.advance(15_000);
    expect(server.sessions).toBe(0);
    expect([await settled(touch), await settled(unseated), session.ended.aborted]).toEqual([false, false, false]);
    client.heal();
    await expect(touch).rejects.toMatchObject(LOST);
    expect(await settled(unseated)).toBe(true);
    expect(session.ended.reason).toMatchObject({ code: "session-ended" });
  });

  it("a partition shorter than the ttl: calls fail, waits settle, the session goes on, touched by the new connection", async () => {
    const { clock, server } = setUp({ ttl: 15_000 });
    const client = server.client();
    const { session, contender } = await contend(client, clock, "a");
    const held = await claim(contender);
    const unseated = contender.unseated(never);
    client.partition();
    const look = contender.look(never);
    await clock.advance(14_000);
    client.heal();
    await expect(look).rejects.toMatchObject(LOST);
    expect(await settled(unseated)).toBe(true);
    await clock.advance(14_000);
    expect(await contender.look(never)).toMatchObject({ kind: "held", fence: held.fence });
    expect(session.ended.aborted).toBe(false);
  });

  it("what was under way when the partition began is lost", async () => {
    const { clock, server } = setUp({ latency: 10 });
    const client = server.client();
    const opening = client.open({ clock }, never);
    await clock.advance(20);
    const session = await opening;
    const contender = session.contend("e", { id: "a", metadata: {} }, null);
    const look = contender.look(never);
    await clock.advance(5);
    client.partition();
    await clock.advance(100);
    client.heal();
    await expect(look).rejects.toMatchObject(LOST);
    const queue = session.queue("e", never);
    await clock.advance(20);
    expect(await queue).toEqual([]);
  });

  it("a crash: nothing arrives, nothing settles, only the signals of the calls end them", async () => {
    const { clock, server } = setUp();
    const client = server.client();
    const { session, contender } = await contend(client, clock, "a");
    await contender.look(never);
    const before = session.touch(never);
    client.crash();
    const controller = new AbortController();
    const after = session.touch(controller.signal);
    client.heal();
    server.stop();
    server.start();
    await clock.advance(60_000);
    expect([await settled(before), await settled(after), session.ended.aborted]).toEqual([false, false, false]);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(after).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });

  it("held replies: requests take effect, answers and notifications wait, and come in order", async () => {
    const { clock, server } = setUp();
    const client = server.client();
    const leader = await contend(server.client(), clock, "a");
    await claim(leader.contender);
    const waiter = await contend(client, clock, "b");
    const moved = waiter.contender.moved(await waiter.contender.look(never), never);
    await settled(moved);
    client.holdReplies();
    const order: string[] = [];
    const touch = waiter.session.touch(never).then(() => order.push("touch"));
    await leader.contender.withdraw("free", never);
    const second = moved.then(() => order.push("moved"));
    const look = waiter.contender.look(never).then(({ kind }) => order.push(kind));
    expect(await settled(Promise.race([touch, second, look]))).toBe(false);
    client.release();
    await Promise.all([touch, second, look]);
    expect(order).toEqual(["touch", "moved", "head"]);
  });

  it("held requests arrive late, and in order, also those that were given up", async () => {
    const { clock, server } = setUp();
    const client = server.client();
    const { session, contender } = await contend(client, clock, "a");
    client.holdRequests();
    const controller = new AbortController();
    const look = contender.look(controller.signal);
    controller.abort(new Error("given up"));
    await expect(look).rejects.toThrow("given up");
    const withdrawal = contender.withdraw("free", never);
    const queue = session.queue("e", never);
    expect(server.requests("look")).toBe(0);
    client.release();
    await withdrawal;
    expect(server.requests("look")).toBe(1);
    expect(await queue).toEqual([]);
  });
});
