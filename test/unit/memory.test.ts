import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { systemClock } from "../../src/clock.js";
import { ConfigError } from "../../src/errors.js";
import { claim, contend, never, settled, setUp } from "./memory-help.js";

describe("the memory store", () => {
  it("is a store itself, and gives clients that are independent", async () => {
    const { clock, server } = setUp({ ttl: 8000 });
    const own = await server.open({ clock }, never);
    const client = server.client("b");
    const other = await client.open({ clock }, never);
    expect([server.name, client.name]).toEqual(["memory", "b"]);
    expect(own.ttl).toBe(8000);
    expect(client.sessions).toEqual([other.id]);
    client.partition();
    await own.touch(never);
    expect(server.sessions).toBe(2);
  });

  it.each([
    ["ttl", { ttl: 0 }],
    ["ttl", { ttl: Number.NaN }],
    ["gap", { ttl: 1000, gap: 1000 }],
    ["lockDelay", { lockDelay: -1 }],
    ["latency", { latency: Number.POSITIVE_INFINITY }],
  ])("refuses a bad option: %s", (option, options) => {
    expect(() => memory(options)).toThrow(ConfigError);
    expect(() => memory(options)).toThrow(new RegExp(`^${option}: `));
  });

  it("answers asynchronously, also without latency", async () => {
    const { clock, server } = setUp();
    const { session } = await contend(server, clock, "a");
    let answered = false;
    const touch = session.touch(never).then(() => {
      answered = true;
    });
    expect(answered).toBe(false);
    await touch;
  });

  it("takes its latency each way, by the client's clock", async () => {
    const { clock, server } = setUp({ latency: 5 });
    const opening = server.open({ clock }, never);
    await clock.advance(9);
    expect(await settled(opening)).toBe(false);
    await clock.advance(1);
    const session = await opening;
    const client = server.client();
    client.delay(50);
    const slow = client.open({ clock }, never);
    const touch = session.touch(never);
    await clock.advance(10);
    expect(await settled(touch)).toBe(true);
    expect(await settled(slow)).toBe(false);
    await clock.advance(90);
    expect(await settled(slow)).toBe(true);
  });

  it("expires a session by the server's clock, ttl after its last request, and not before", async () => {
    const { clock, server } = setUp({ ttl: 15_000 });
    const process = clock.process();
    const { session, contender } = await contend(server, process, "a");
    await claim(contender);
    process.stepWall(60_000);
    await clock.advance(10_000);
    await session.touch(never);
    await clock.advance(14_999);
    expect(session.ended.aborted).toBe(false);
    await clock.advance(1);
    expect(session.ended.reason).toMatchObject({ code: "session-ended" });
    expect(server.sessions).toBe(0);
  });

  it("expires an abandoned session, and a crashed one, by the server's clock only", async () => {
    const { clock, server } = setUp({ ttl: 15_000 });
    const crashing = server.client();
    const a = await contend(crashing, clock, "a");
    const b = await contend(server.client(), clock, "b");
    await a.contender.look(never);
    await b.contender.look(never);
    crashing.crash();
    b.session.abandon();
    expect(b.session.ended.aborted).toBe(true);
    await clock.advance(14_999);
    expect(server.sessions).toBe(2);
    await clock.advance(1);
    expect(server.sessions).toBe(0);
    expect(a.session.ended.aborted).toBe(false);
  });

  it("leaves no timer once the last session is gone", async () => {
    const { clock, server } = setUp({ ttl: 15_000, gap: 3000 });
    const a = await contend(server, clock, "a");
    const b = await contend(server.client(), clock, "b");
    await claim(a.contender);
    await b.contender.look(never);
    await a.session.prove(never);
    await a.session.close(never);
    expect(clock.pending).toBeGreaterThan(0);
    await b.session.close(never);
    expect(clock.pending).toBe(0);
  });

  it("keeps expiring on the clock of the first session when it has none of its own", async () => {
    const { clock } = setUp();
    const server = memory({ ttl: 1000 });
    const first = await server.open({ clock }, never);
    const second = await server.client().open({ clock: systemClock }, never);
    await clock.advance(1000);
    expect([first.ended.aborted, second.ended.aborted]).toEqual([true, true]);
  });

  it("counts fences over all elections and numbers in each of them", async () => {
    const { clock, server } = setUp();
    const { session, contender } = await contend(server, clock, "a");
    const other = session.contend("f", { id: "a", metadata: {} }, null);
    const first = await claim(contender);
    const second = await claim(other);
    expect(second.fence).toBeGreaterThan(first.fence);
    expect([first.number, second.number]).toEqual([1, 1]);
    await contender.withdraw("free", never);
    const third = await claim(session.contend("e", { id: "a", metadata: {} }, null));
    expect(third.fence).toBeGreaterThan(second.fence);
    expect(third.number).toBe(2);
  });

  it("counts requests, so that a test can show that a transition costs the same however many wait", async () => {
    const { clock, server } = setUp();
    const cost = async (waiters: number) => {
      const leader = await contend(server.client(), clock, "a");
      await claim(leader.contender);
      const waiting = [];
      for (let index = 0; index < waiters; index++) {
        const { contender, session } = await contend(server.client(), clock, `w${index}`);
        waiting.push({ contender, session, moved: contender.moved(await contender.look(never), never) });
      }
      const before = server.requests();
      await leader.contender.prepare(never);
      await leader.contender.withdraw("hand-over", never);
      await waiting[0]?.moved;
      expect((await waiting[0]?.contender.look(never))?.kind).toBe("held");
      const spent = server.requests() - before;
      for (const { session } of waiting) await session.close(never);
      await leader.session.close(never);
      return spent;
    };
    expect(await cost(100)).toBe(await cost(2));
    expect(server.requests("look")).toBe(106);
  });

  it("shows in `ignored` what somebody else put there", async () => {
    const { clock, server } = setUp();
    server.inject("e", "a child named x is not tenure's");
    const { contender } = await contend(server, clock, "a");
    expect(await contender.look(never)).toMatchObject({ kind: "head", ignored: ["a child named x is not tenure's"] });
    server.tidy("e");
    expect((await contender.look(never)).ignored).toEqual([]);
  });

  it("tells a leader that was superseded", async () => {
    const { clock, server } = setUp();
    const { contender } = await contend(server, clock, "a");
    const held = await claim(contender);
    const unseated = contender.unseated(never);
    expect(await settled(unseated)).toBe(false);
    server.supersede("e");
    expect(await settled(unseated)).toBe(true);
    const place = await contender.look(never);
    expect(place.kind).toBe("head");
    expect(place.seen).toBeGreaterThan(held.fence);
  });

  it("evicts from one election or from all", async () => {
    const { clock, server } = setUp();
    const { session, contender } = await contend(server, clock, "a");
    const other = session.contend("f", { id: "a", metadata: {} }, null);
    await contender.look(never);
    await other.look(never);
    server.evict("a", "e");
    expect((await contender.look(never)).kind).toBe("gone");
    expect((await other.look(never)).kind).toBe("head");
    server.evict("a");
    expect((await other.look(never)).kind).toBe("gone");
  });
});
