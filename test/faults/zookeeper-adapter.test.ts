import { describe, expect, it } from "vitest";
import { fence, type ZooKeeperHandle } from "../../adapters/zookeeper/index.js";
import { Arena, card, claimed, expectPlace, handle, isPending, soon } from "./zookeeper-adapter.js";

describe("an election on ZooKeeper", () => {
  it("makes every parent, joins and shows the free seat to the first", async () => {
    const arena = new Arena();
    const session = await arena.open({ chroot: `${arena.root}/deep/er`, root: "/also/missing" });
    const contender = session.contend("e", card("a"), null);
    const place = expectPlace(await contender.look(soon()), "head");
    expect(place).toMatchObject({ seen: 0n, ignored: [] });
    const held = await contender.claim(place, soon());
    expect(held).toMatchObject({ kind: "held", handle: { chroot: `${arena.root}/deep/er`, termPath: "/also/missing/e/term" } });
    const raw = await arena.raw();
    expect(await raw.children(`${arena.root}/deep/er/also/missing/e`)).toEqual(expect.arrayContaining(["candidates", "term"]));
  });

  it("never leaves version 0 of the term to a claim", async () => {
    const arena = new Arena();
    await (await arena.candidate("a")).look(soon());
    const raw = await arena.raw();
    expect((await raw.get(arena.term)).stat.version).toBe(1);
  });

  it("claims in one write; its version and mzxid are number and fence, and the record says who", async () => {
    const arena = new Arena();
    const { place } = await arena.leader("a");
    const raw = await arena.raw();
    const { data, stat } = await raw.get(arena.term);
    expect(place).toMatchObject({ number: stat.version, fence: stat.mzxid, seen: stat.mzxid });
    const [entry] = await arena.entries(raw);
    expect(handle(place)).toEqual({ chroot: "", termPath: arena.term, entryPath: `${arena.candidates}/${entry}`, version: stat.version });
    expect(JSON.parse(data)).toMatchObject({ v: 1, entry });
    expect(Math.abs(Date.parse(JSON.parse(data).since) - Date.now())).toBeLessThan(60_000);
  });

  it("tells each look who is before me, and the second look of a leader that it holds the seat", async () => {
    const arena = new Arena();
    const { contender, place } = await arena.leader("a");
    const [b, c] = [await arena.candidate("b"), await arena.candidate("c")];
    expectPlace(await b.look(soon()), "behind");
    const behind = expectPlace(await c.look(soon()), "behind");
    expect(behind.seen).toBe(place.fence);
    const raw = await arena.raw();
    expect(behind).toMatchObject({ predecessor: (await arena.entries(raw))[1] });
    expect(await contender.look(soon())).toMatchObject({ kind: "held", number: place.number, fence: place.fence });
  });

  it("hands the seat on: number and fence rise by one write each, and the successor finds it held", async () => {
    const arena = new Arena();
    const all = [await arena.candidate("a"), await arena.candidate("b"), await arena.candidate("c")];
    const raw = await arena.raw();
    let last = await claimed(all[0]!);
    for (const contender of all.slice(1)) await contender.look(soon());
    for (const [index, contender] of all.entries()) {
      const next = all[index + 1];
      if (next === undefined) break;
      const moved = next.moved(expectPlace(await next.look(soon()), "behind"), soon());
      await contender.prepare(soon());
      await contender.withdraw("hand-over", soon());
      await moved;
      const place = expectPlace(await next.look(soon()), "held");
      expect(place.number).toBe(last.number + 1);
      expect(place.fence).toBeGreaterThan(last.fence);
      expect(place.seen).toBe(place.fence);
      expect(JSON.parse((await raw.get(arena.term)).data).entry).toBe((await arena.entries(raw))[0]);
      last = place;
    }
    expect(await arena.entries(raw)).toHaveLength(1);
  });

  it("hands the seat on without having prepared, and when the prepared successor has gone", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const [b, c] = [await arena.candidate("b"), await arena.candidate("c")];
    await b.look(soon());
    await c.look(soon());
    await a.prepare(soon());
    await b.withdraw("hand-over", soon());
    await a.withdraw("hand-over", soon());
    expectPlace(await c.look(soon()), "held");
    const d = await arena.candidate("d");
    await d.look(soon());
    await c.withdraw("hand-over", soon());
    expectPlace(await d.look(soon()), "held");
  });

  it("leaves the seat empty when it is freed, or when nobody waits; the fence rises all the same", async () => {
    const arena = new Arena();
    const { contender: a, place: first } = await arena.leader("a");
    const b = await arena.candidate("b");
    await b.look(soon());
    await a.withdraw("free", soon());
    expectPlace(await b.look(soon()), "head");
    const second = await claimed(b);
    expect(second.fence).toBeGreaterThan(first.fence);
    await b.prepare(soon());
    await b.withdraw("hand-over", soon());
    const raw = await arena.raw();
    expect(await arena.entries(raw)).toEqual([]);
    const third = await claimed(await arena.candidate("c"));
    expect(third.number).toBeGreaterThan(second.number);
    expect(third.fence).toBeGreaterThan(second.fence);
  });

  it("refuses a claim at a term that has been written since", async () => {
    const arena = new Arena();
    const a = await arena.candidate("a");
    const stale = expectPlace(await a.look(soon()), "head");
    const raw = await arena.raw();
    await raw.set(arena.term, (await raw.get(arena.term)).data);
    expect(await a.claim(stale, soon())).toEqual({ kind: "refused", wait: 0 });
    await claimed(a);
  });

  it("refuses a claim once the entry has been removed", async () => {
    const arena = new Arena();
    const a = await arena.candidate("a");
    const place = expectPlace(await a.look(soon()), "head");
    const raw = await arena.raw();
    await raw.delete(`${arena.candidates}/${(await arena.entries(raw))[0]}`);
    expect(await a.claim(place, soon())).toEqual({ kind: "refused", wait: 0 });
    expectPlace(await a.look(soon()), "gone");
  });

  it("withdraws from the queue, twice if asked, and sends nothing if it never joined", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const raw = await arena.raw();
    const b = await arena.candidate("b");
    await b.withdraw("hand-over", soon());
    expect(await arena.entries(raw)).toHaveLength(1);
    await b.look(soon());
    await b.withdraw("hand-over", soon());
    await b.withdraw("free", soon());
    expect(await arena.entries(raw)).toHaveLength(1);
  });

  it("replaces the entry of an earlier session, also when it holds the seat, and never one of this session", async () => {
    const arena = new Arena();
    const session = await arena.open();
    const old = session.contend("e", card("a"), null);
    await claimed(old);
    const sameSession = session.contend("e", card("a2"), old);
    expectPlace(await sameSession.look(soon()), "behind");
    await sameSession.withdraw("free", soon());
    const next = (await arena.open()).contend("e", card("a"), old);
    expectPlace(await next.look(soon()), "head");
    expect(await arena.entries(await arena.raw())).toHaveLength(1);
  });

  it("fences a transaction of another client by the handle, until a newer term begins", async () => {
    const arena = new Arena();
    const { contender: a, place } = await arena.leader("a");
    const raw = await arena.raw();
    const write = async () => {
      const operations: { op: "check"; path: string; version: number }[] = [];
      fence({ check: (path, version) => operations.push({ op: "check", path, version }) }, place.handle);
      await raw.multi([...operations, { op: "set", path: arena.root, data: "work" }]);
    };
    await write();
    const b = await arena.candidate("b");
    await b.look(soon());
    await a.withdraw("hand-over", soon());
    await expect(write()).rejects.toThrow();
    expect(() => fence({ check: () => {} }, { lock: "of another store" })).toThrow(TypeError);
    expect((place.handle as ZooKeeperHandle).version).toBe(place.number);
  });

  it("proves on a root that does not exist yet, and touches", async () => {
    const session = await new Arena().open({ tickTime: 500 });
    expect(session.gap).toBe(350);
    const before = performance.now();
    const { vouchedAt } = await session.prove(soon());
    expect(vouchedAt.mono).toBeLessThanOrEqual(before);
    await session.touch(soon());
    expect((await new Arena().open()).gap).toBe(2600);
  });
});

describe("waiting on ZooKeeper", () => {
  it("wakes only the one behind, and not for writes to entries", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const [b, c] = [await arena.candidate("b"), await arena.candidate("c")];
    const bMoved = b.moved(expectPlace(await b.look(soon()), "behind"), soon());
    const cMoved = c.moved(expectPlace(await c.look(soon()), "behind"), soon());
    const raw = await arena.raw();
    const writes = (async () => {
      for (const entry of await arena.entries(raw)) await raw.set(`${arena.candidates}/${entry}`, "scribble");
      await (await arena.open()).queue("e", soon());
    })();
    expect(await isPending(Promise.race([bMoved, cMoved]), writes)).toBe(true);
    await a.withdraw("free", soon());
    await bMoved;
    expect(await isPending(cMoved, claimed(b))).toBe(true);
    await b.withdraw("free", soon());
    await cMoved;
  });

  it("tells an evicted waiter and an evicted leader within one watch", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    const unseated = a.unseated(soon());
    const moved = b.moved(expectPlace(await b.look(soon()), "behind"), soon());
    const raw = await arena.raw();
    const [first, second] = await arena.entries(raw);
    expect(await isPending(Promise.race([unseated, moved]), raw.set(`${arena.candidates}/${first}`, "x"))).toBe(true);
    await raw.delete(`${arena.candidates}/${second}`);
    await moved;
    expectPlace(await b.look(soon()), "gone");
    await raw.delete(`${arena.candidates}/${first}`);
    await unseated;
    expectPlace(await a.look(soon()), "gone");
    await a.withdraw("hand-over", soon());
  });

  it("settles at once what has happened before the watch was armed", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    const place = expectPlace(await b.look(soon()), "behind");
    await a.withdraw("free", soon());
    await b.moved(place, soon());
    const held = await claimed(b);
    const raw = await arena.raw();
    await raw.set(arena.term, "{}");
    await b.unseated(soon());
    expectPlace(await b.look(soon()), "head");
    expect(held.number).toBeGreaterThan(0);
  });

  it("tells a leader that its term was rewritten or removed", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const unseated = a.unseated(soon());
    const raw = await arena.raw();
    await raw.exists(arena.term);
    await raw.delete(arena.term);
    await unseated;
    const again = expectPlace(await a.look(soon()), "head");
    expect(again.seen).toBe(0n);
  });

  it("rejects with the reason of the signal", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    const place = expectPlace(await b.look(soon()), "behind");
    const reason = new Error("not wanted any more");
    for (const wait of [(signal: AbortSignal) => b.moved(place, signal), (signal: AbortSignal) => a.unseated(signal)]) {
      const controller = new AbortController();
      const waiting = wait(controller.signal);
      await a.look(soon());
      controller.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await expect(wait(AbortSignal.abort(reason))).rejects.toBe(reason);
    }
  });
});
