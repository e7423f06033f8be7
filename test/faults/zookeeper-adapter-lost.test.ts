import { describe, expect, it } from "vitest";
import { StoreError, timedOut } from "../../src/errors.js";
import type { Contender } from "../../src/store.js";
import { Arena, card, claimed, expectPlace, soon } from "./zookeeper-adapter.js";

const TRANSIENT = { transient: true };

describe("a create whose reply is lost", () => {
  it("leaves exactly one entry, which the next look finds", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const { contender, proxy } = await arena.proxied("b");
    const dropped = proxy.dropReply({ opcode: "create", thenCut: true });
    await expect(contender.look(soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    expectPlace(await contender.look(soon()), "behind");
    expect(await arena.entries(await arena.raw())).toHaveLength(2);
  });

  it("holds the seat that was handed to it meanwhile", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const { contender: b, proxy } = await arena.proxied("b");
    const dropped = proxy.dropReply({ opcode: "create", thenCut: true });
    await expect(b.look(soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    await a.withdraw("hand-over", soon());
    expect(await b.look(soon())).toMatchObject({ kind: "held", number: 3 });
  });

  it("is found also when the attempt was given up, or not wanted any more", async () => {
    for (const [reason, error] of [
      ["too long", timedOut("a look", 1)],
      ["not wanted", new Error("not wanted")],
    ] as const) {
      const arena = new Arena();
      await arena.leader("a");
      const { contender, proxy } = await arena.proxied("b");
      const controller = new AbortController();
      proxy.hold("down");
      const sent = proxy.onRequest("create");
      const look = contender.look(controller.signal);
      const refused = expect(look).rejects.toBe(error);
      await sent;
      // An attempt that took too long makes the link suspect: it is left in the next turn.
      const ready = reason === "too long" ? proxy.onRequest("connect") : Promise.resolve();
      controller.abort(error);
      await refused;
      await ready;
      proxy.release();
      expectPlace(await contender.look(soon()), "behind");
      expect(await arena.entries(await arena.raw())).toHaveLength(2);
    }
  });

  it("is joined again if the request itself was lost", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const { contender, proxy } = await arena.proxied("b");
    const dropped = proxy.dropRequest({ opcode: "create", thenCut: true });
    await expect(contender.look(soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    expectPlace(await contender.look(soon()), "behind");
    expect(await arena.entries(await arena.raw())).toHaveLength(2);
  });

  it("is withdrawn without another look", async () => {
    for (const lost of ["dropReply", "dropRequest"] as const) {
      const arena = new Arena();
      await arena.leader("a");
      const { contender, proxy } = await arena.proxied("b");
      const dropped = proxy[lost]({ opcode: "create", thenCut: true });
      await expect(contender.look(soon())).rejects.toMatchObject(TRANSIENT);
      await dropped;
      await contender.withdraw("hand-over", soon());
      expect(await arena.entries(await arena.raw())).toHaveLength(1);
    }
  });

  it("is replaced by the candidacy of the next session, by its GUID", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const { contender: old, proxy, session } = await arena.proxied("b");
    const dropped = proxy.dropReply({ opcode: "create", thenCut: true });
    await expect(old.look(soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    session.abandon();
    const raw = await arena.raw();
    expect(await arena.entries(raw)).toHaveLength(2);
    const next = (await arena.open()).contend("e", card("b"), old);
    expectPlace(await next.look(soon()), "behind");
    const entries = await arena.entries(raw);
    expect(entries).toHaveLength(2);
    expect((await raw.get(`${arena.candidates}/${entries[1]}`)).stat.ephemeralOwner).not.toBe(BigInt(session.id));
  });
});

describe("a claim whose reply is lost", () => {
  it("is held at the next look, with the number and fence that were written", async () => {
    const arena = new Arena();
    const { contender, proxy } = await arena.proxied("a");
    const head = expectPlace(await contender.look(soon()), "head");
    const dropped = proxy.dropReply({ opcode: "multi", thenCut: true });
    await expect(contender.claim(head, soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    const held = expectPlace(await contender.look(soon()), "held");
    const { stat } = await (await arena.raw()).get(arena.term);
    expect(held).toMatchObject({ number: stat.version, fence: stat.mzxid });
    expect(held.number).toBe(2);
  });

  it("is free still if the request itself was lost", async () => {
    const arena = new Arena();
    const { contender, proxy } = await arena.proxied("a");
    const head = expectPlace(await contender.look(soon()), "head");
    const dropped = proxy.dropRequest({ opcode: "multi", thenCut: true });
    await expect(contender.claim(head, soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    expectPlace(await contender.look(soon()), "head");
  });

  it("does not keep a withdrawal from leaving the seat to the next", async () => {
    const arena = new Arena();
    const { contender, proxy } = await arena.proxied("a");
    const head = expectPlace(await contender.look(soon()), "head");
    const b = await arena.candidate("b");
    const moved = b.moved(expectPlace(await b.look(soon()), "behind"), soon());
    const dropped = proxy.dropReply({ opcode: "multi", thenCut: true });
    await expect(contender.claim(head, soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    await contender.withdraw("hand-over", soon());
    await moved;
    expect((await claimed(b)).number).toBe(3);
  });
});

describe("a hand-over whose reply is lost", () => {
  async function seated(lost: "dropReply" | "dropRequest"): Promise<{ arena: Arena; a: Contender; b: Contender }> {
    const arena = new Arena();
    const { contender: a, proxy } = await arena.proxied("a");
    await claimed(a);
    const b = await arena.candidate("b");
    await b.look(soon());
    await a.prepare(soon());
    const dropped = proxy[lost]({ opcode: "multi", thenCut: true });
    await expect(a.withdraw("hand-over", soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    return { arena, a, b };
  }

  it.each(["dropReply", "dropRequest"] as const)("is settled by the next attempt, in one term (%s)", async (lost) => {
    const { arena, a, b } = await seated(lost);
    await a.withdraw("hand-over", soon());
    expect(await b.look(soon())).toMatchObject({ kind: "held", number: 3 });
    expect(await arena.entries(await arena.raw())).toHaveLength(1);
  });

  it("disturbs nobody when the successor has led and left before the next attempt", async () => {
    const { arena, a, b } = await seated("dropReply");
    expectPlace(await b.look(soon()), "held");
    await b.withdraw("hand-over", soon());
    const c = await claimed(await arena.candidate("c"));
    await a.withdraw("hand-over", soon());
    expect(await (await arena.open()).leader("e", soon())).toMatchObject({ id: "c", fence: c.fence });
  });
});

describe("every step of a withdrawal", () => {
  it("can be repeated when its delete got no reply", async () => {
    const arena = new Arena();
    const { contender: a, proxy } = await arena.proxied("a");
    await claimed(a);
    const dropped = proxy.dropReply({ opcode: "delete", thenCut: true });
    await expect(a.withdraw("free", soon())).rejects.toMatchObject(TRANSIENT);
    await dropped;
    await a.withdraw("free", soon());
    expect(await arena.entries(await arena.raw())).toEqual([]);
  });

  it("fails with the session's end, and only that is for good", async () => {
    const arena = new Arena();
    const { contender: a, session } = await arena.proxied("a");
    await claimed(a);
    session.abandon();
    const failure = await a.withdraw("free", soon()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).toMatchObject({ code: "session-ended", transient: false });
  });
});

describe("a broken connection", () => {
  it("wakes who waits, and the next look is right on the same session", async () => {
    const arena = new Arena();
    const { contender: a, proxy } = await arena.proxied("a");
    const held = await claimed(a);
    const unseated = a.unseated(soon());
    await a.look(soon());
    proxy.cut();
    await unseated;
    expect(await a.look(soon())).toMatchObject({ kind: "held", number: held.number, fence: held.fence });
  });

  it("does not hide an eviction that happened meanwhile", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const { contender: b, proxy } = await arena.proxied("b");
    const moved = b.moved(expectPlace(await b.look(soon()), "behind"), soon());
    await b.look(soon());
    await proxy.refuse();
    proxy.cut();
    await moved;
    const raw = await arena.raw();
    await raw.delete(`${arena.candidates}/${(await arena.entries(raw))[1]}`);
    await proxy.accept();
    expectPlace(await b.look(soon()), "gone");
  });
});
