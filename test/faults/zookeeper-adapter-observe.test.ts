import { describe, expect, it } from "vitest";
import { Arena, card, claimed, expectPlace, isPending, soon } from "./zookeeper-adapter.js";

describe("observing an election on ZooKeeper", () => {
  it("sees nobody where nothing is, and makes nothing", async () => {
    const arena = new Arena();
    const observer = await arena.open();
    expect(await observer.leader("e", soon())).toBeNull();
    expect(await observer.queue("e", soon())).toEqual([]);
    expect(await (await arena.raw()).exists(arena.root)).toBeNull();
  });

  it("shows the leader with its term, and everybody in order, the leader first", async () => {
    const arena = new Arena();
    const { place } = await arena.leader("a");
    for (const id of ["b", "c"]) await (await arena.candidate(id)).look(soon());
    const observer = await arena.open();
    const leader = await observer.leader("e", soon());
    expect(leader).toEqual({ id: "a", metadata: { zone: "of a" }, number: place.number, fence: place.fence, since: expect.any(Date) });
    const [first, second, third] = await arena.entries(await arena.raw());
    const session = expect.stringMatching(/^0x[0-9a-f]+$/);
    expect(await observer.queue("e", soon())).toEqual([
      { entry: first, id: "a", metadata: { zone: "of a" }, leading: true, session },
      { entry: second, id: "b", metadata: { zone: "of b" }, leading: false, session },
      { entry: third, id: "c", metadata: { zone: "of c" }, leading: false, session },
    ]);
  });

  it("reads a long queue without a warning of Node's", async () => {
    const arena = new Arena();
    const session = await arena.open();
    for (let n = 0; n < 15; n++) await session.contend("e", card(String(n)), null).look(soon());
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    expect((await session.queue("e", soon())).map(({ id }) => Number(id))).toEqual([...Array(15).keys()]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
    const controller = new AbortController();
    const reading = session.queue("e", controller.signal);
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });

  it("shows no leader while the seat is free", async () => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    await (await arena.candidate("b")).look(soon());
    await a.withdraw("free", soon());
    const observer = await arena.open();
    expect(await observer.leader("e", soon())).toBeNull();
    expect(await observer.queue("e", soon())).toMatchObject([{ id: "b", metadata: { zone: "of b" }, leading: false }]);
  });

  it("shows somebody whose card is not readable by the name of the entry", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const raw = await arena.raw();
    const [entry] = await arena.entries(raw);
    await raw.set(`${arena.candidates}/${entry}`, "scribble");
    const session = expect.stringMatching(/^0x[0-9a-f]+$/);
    expect(await (await arena.open()).queue("e", soon())).toEqual([{ entry, id: entry, metadata: {}, leading: true, session }]);
  });

  it("tells each change: made, claimed, handed on, freed", async () => {
    const arena = new Arena();
    const observer = await arena.open();
    const made = observer.changed("e", null, soon());
    const a = await arena.candidate("a");
    await a.look(soon());
    await made;
    const elected = observer.changed("e", null, soon());
    expect(await isPending(elected, observer.leader("e", soon()))).toBe(true);
    await claimed(a);
    await elected;
    const first = await observer.leader("e", soon());
    const b = await arena.candidate("b");
    const handedOn = observer.changed("e", first, soon());
    expect(
      await isPending(
        handedOn,
        b.look(soon()).then(() => observer.leader("e", soon())),
      ),
    ).toBe(true);
    await a.withdraw("hand-over", soon());
    await handedOn;
    const second = await observer.leader("e", soon());
    expect(second).toMatchObject({ id: "b" });
    const freed = observer.changed("e", second, soon());
    await observer.leader("e", soon());
    await b.withdraw("free", soon());
    await freed;
    expect(await observer.leader("e", soon())).toBeNull();
  });

  it("tells that the term was written by somebody else, though the holder's entry is there", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const observer = await arena.open();
    const leader = await observer.leader("e", soon());
    const changed = observer.changed("e", leader, soon());
    await observer.leader("e", soon());
    await (await arena.raw()).set(arena.term, "{}");
    await changed;
    expect(await observer.leader("e", soon())).toBeNull();
  });

  it("tells at once what happened before the watch was armed", async () => {
    const arena = new Arena();
    const observer = await arena.open();
    const { contender: a } = await arena.leader("a");
    await observer.changed("e", null, soon());
    const first = await observer.leader("e", soon());
    const b = await arena.candidate("b");
    await b.look(soon());
    await a.withdraw("hand-over", soon());
    await observer.changed("e", first, soon());
    const second = await observer.leader("e", soon());
    await b.withdraw("free", soon());
    await observer.changed("e", second, soon());
    const raw = await arena.raw();
    await raw.delete(arena.term);
    await observer.changed("e", second, soon());
  });

  it("waits on, without spinning, while a seat that was freed stays free", async () => {
    const arena = new Arena();
    const { session, proxy } = await arena.proxied("observer");
    const { contender: a } = await arena.leader("a");
    await a.withdraw("free", soon());
    const changed = session.changed("e", null, soon());
    const sent = () => proxy.requests().reduce((sum, { opcode, count }) => (opcode === "ping" ? sum : sum + count), 0);
    const other = await arena.open();
    const meanwhile = (async () => {
      for (let reads = 0; reads < 30; reads++) await other.leader("e", soon());
    })();
    expect(await isPending(changed, meanwhile)).toBe(true);
    expect(sent()).toBeLessThanOrEqual(5);
    await claimed(await arena.candidate("b"));
    await changed;
  });

  it("hears of a broken connection, and of its own signal", async () => {
    const arena = new Arena();
    const { session, proxy } = await arena.proxied("observer");
    await arena.leader("a");
    const leader = await session.leader("e", soon());
    const changed = session.changed("e", leader, soon());
    await session.leader("e", soon());
    proxy.cut();
    await changed;
    expect(await session.leader("e", soon())).toEqual(leader);
    const controller = new AbortController();
    const waiting = session.changed("e", leader, controller.signal);
    await session.leader("e", soon());
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("is not misled by a place: waiting candidates change nothing", async () => {
    const arena = new Arena();
    await arena.leader("a");
    const observer = await arena.open();
    const leader = await observer.leader("e", soon());
    const changed = observer.changed("e", leader, soon());
    const b = await arena.candidate("b");
    const comeAndGone = (async () => {
      expectPlace(await b.look(soon()), "behind");
      await b.withdraw("free", soon());
      await observer.leader("e", soon());
    })();
    expect(await isPending(changed, comeAndGone)).toBe(true);
  });
});
