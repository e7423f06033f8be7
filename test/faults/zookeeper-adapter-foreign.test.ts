import { describe, expect, it } from "vitest";
import type { ZooKeeperAcl } from "../../adapters/zookeeper/index.js";
import { Arena, card, claimed, expectPlace, soon } from "./zookeeper-adapter.js";

describe("what others do to an election on ZooKeeper", () => {
  it("ignores children that are not ours, and says so", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    await raw.ensure(arena.candidates);
    for (const name of ["0000000000", "note", "_c_x-latch-0000000001", "a-0000000000"]) await raw.create(`${arena.candidates}/${name}`);
    const a = await arena.candidate("a");
    const place = expectPlace(await a.look(soon()), "head");
    expect(place.ignored).toHaveLength(1);
    expect(place.ignored[0]).toContain(arena.candidates);
    expect(place.ignored[0]).toContain("and 1 more");
    await claimed(a);
    await a.prepare(soon());
    await a.withdraw("hand-over", soon());
  });

  it.each([
    ["no JSON", "leader: me"],
    ["nothing", ""],
    ["a list", "[]"],
    ["no version", '{"entry":"x"}'],
    ["no entry", '{"v":1}'],
    ["a bad time", '{"v":1,"entry":"x","since":"long ago"}'],
  ])("takes a term that says %s for nobody's, and says so", async (_, data) => {
    const arena = new Arena();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    await b.look(soon());
    const raw = await arena.raw();
    await raw.set(arena.term, data);
    const place = expectPlace(await b.look(soon()), "behind");
    expect(place).toMatchObject({ seen: 0n, ignored: [expect.stringContaining(arena.term)] });
    const observer = await arena.open();
    expect(await observer.leader("e", soon())).toBeNull();
    expect((await observer.queue("e", soon())).map(({ id, leading }) => [id, leading])).toEqual([
      ["a", false],
      ["b", false],
    ]);
    await a.withdraw("free", soon());
    expect((await claimed(b)).ignored).toEqual([]);
  });

  it("names a record of a later release, and leaves no entry behind", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    await (await arena.candidate("a")).look(soon());
    await raw.set(arena.term, '{"v":2,"entry":"x"}');
    const b = await arena.candidate("b");
    await expect(b.look(soon())).rejects.toMatchObject({ code: "unsupported", transient: false });
    await b.withdraw("hand-over", soon());
    expect(await arena.entries(raw)).toHaveLength(1);
    await expect((await arena.open()).leader("e", soon())).rejects.toMatchObject({ code: "unsupported" });
  });

  it("keeps fields that it does not know", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    await b.look(soon());
    const entry = `${arena.candidates}/${(await arena.entries(raw))[1]}`;
    await raw.set(entry, JSON.stringify({ v: 1, id: "b", metadata: {}, badge: 7 }));
    await a.withdraw("free", soon());
    const vacant = JSON.parse((await raw.get(arena.term)).data);
    await raw.set(arena.term, JSON.stringify({ ...vacant, policy: "x" }));
    const c = await arena.candidate("c");
    await c.look(soon());
    await raw.set(`${arena.candidates}/${(await arena.entries(raw))[1]}`, JSON.stringify({ v: 1, id: "c", metadata: {}, badge: 8 }));
    await claimed(b);
    expect(JSON.parse((await raw.get(arena.term)).data)).toMatchObject({ policy: "x" });
    await b.withdraw("hand-over", soon());
    expect(JSON.parse((await raw.get(arena.term)).data)).toMatchObject({ policy: "x" });
  });

  it.each(["scribble", '{"v":2}'])("hands the seat on also to a successor whose card is %j", async (data) => {
    const arena = new Arena();
    const raw = await arena.raw();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    await b.look(soon());
    await raw.set(`${arena.candidates}/${(await arena.entries(raw))[1]}`, data);
    await a.prepare(soon());
    await a.withdraw("hand-over", soon());
    expect((await claimed(b)).number).toBe(3);
  });

  it("cures a term of version 0 once, whatever it says", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    await raw.ensure(arena.candidates);
    await raw.create(arena.term, '{"v":1,"entry":null,"kept":true}');
    const a = await arena.candidate("a");
    expectPlace(await a.look(soon()), "head");
    const { data, stat } = await raw.get(arena.term);
    expect(stat.version).toBe(1);
    expect(data).toBe('{"v":1,"entry":null,"kept":true}');
    expect((await claimed(a)).number).toBe(2);
  });

  it("makes the parents again when they were removed, also under a candidate that waits", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    const moved = b.moved(expectPlace(await b.look(soon()), "behind"), soon());
    const unseated = a.unseated(soon());
    await a.look(soon());
    await raw.deleteAll(arena.root);
    await Promise.all([moved, unseated]);
    for (const contender of [a, b]) {
      expectPlace(await contender.look(soon()), "gone");
      await contender.withdraw("hand-over", soon());
    }
    const { place } = await arena.leader("c");
    expect(place.number).toBe(2);
  });

  it("makes a removed term again, with a higher fence", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    const { contender: a, place } = await arena.leader("a");
    const b = await arena.candidate("b");
    await b.look(soon());
    await raw.delete(arena.term);
    expectPlace(await b.look(soon()), "behind");
    expectPlace(await a.look(soon()), "head");
    await a.withdraw("hand-over", soon());
    expect((await claimed(b)).fence).toBeGreaterThan(place.fence);
  });

  it("leaves plainly when the term names another, and never writes over it", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    const { contender: a } = await arena.leader("a");
    const b = await arena.candidate("b");
    await b.look(soon());
    await a.prepare(soon());
    const before = (await raw.get(arena.term)).data;
    await raw.set(arena.term, before);
    const { stat } = await raw.get(arena.term);
    await a.withdraw("hand-over", soon());
    expect((await raw.get(arena.term)).stat.mzxid).toBe(stat.mzxid);
    expectPlace(await b.look(soon()), "head");
  });

  it("does not lead by an entry of another session, though it carries the GUID", async () => {
    const arena = new Arena();
    const raw = await arena.raw();
    const { contender: a, proxy } = await arena.proxied("a");
    await (await arena.candidate("warm")).look(soon());
    const dropped = proxy.dropReply({ opcode: "create", thenCut: true });
    await expect(a.look(soon())).rejects.toMatchObject({ transient: true });
    await dropped;
    const entry = `${arena.candidates}/${(await arena.entries(raw))[1]}`;
    await raw.delete(entry);
    await raw.create(entry, "", "ephemeral");
    expectPlace(await a.look(soon()), "gone");
  });
});

describe("missing permissions", () => {
  const everybody = (permissions: string): ZooKeeperAcl => ({ permissions, scheme: "world", id: "anyone" });
  const own: ZooKeeperAcl = { permissions: "cdrwa", scheme: "auth", id: "" };

  it("is a terminal error that says which permission is missing where", async () => {
    const arena = new Arena();
    const owner = await arena.candidate("a", { auth: "owner:secret", acl: [own] });
    await owner.look(soon());
    const stranger = await arena.candidate("b");
    const failure = { code: "auth", transient: false, zk: "NOAUTH" };
    await expect(stranger.look(soon())).rejects.toMatchObject({
      ...failure,
      message: expect.stringContaining(`CREATE on ${arena.candidates}`),
    });
    await stranger.withdraw("hand-over", soon());
    const session = await arena.open();
    await expect(session.leader("e", soon())).rejects.toMatchObject({
      ...failure,
      message: expect.stringContaining(`READ on ${arena.term}`),
    });
    await expect(session.contend("f", card("b"), null).look(soon())).rejects.toMatchObject({
      message: expect.stringContaining(`CREATE on ${arena.root}`),
    });
    await session.touch(soon());
    const known = await arena.candidate("c", { auth: "owner:secret", acl: [own] });
    expectPlace(await known.look(soon()), "behind");
  });

  it("names the operation of a transaction that was refused", async () => {
    const arena = new Arena();
    const owner = await arena.candidate("a", { auth: "owner:secret", acl: [everybody("cdr"), own] });
    await owner.look(soon());
    await owner.withdraw("free", soon());
    const stranger = await arena.candidate("b");
    const head = expectPlace(await stranger.look(soon()), "head");
    await expect(stranger.claim(head, soon())).rejects.toMatchObject({
      code: "auth",
      message: expect.stringContaining(`WRITE on ${arena.term}`),
    });
    await stranger.withdraw("hand-over", soon());
  });

  it("does not need CREATE above what exists already", async () => {
    const arena = new Arena();
    const locked = await arena.candidate("a", { auth: "owner:secret", acl: [everybody("r"), own] });
    await locked.look(soon());
    const opened = await arena.open({ auth: "owner:secret", root: `${arena.root}/open` });
    await opened.contend("e", card("a"), null).look(soon());
    const session = await arena.open({ root: `${arena.root}/open` });
    expectPlace(await session.contend("f", card("b"), null).look(soon()), "head");
  });
});
