import { describe, expect, inject, it } from "vitest";
import { Codec } from "../../adapters/zookeeper/zookeeper-client-codec.js";
import { Call } from "../../adapters/zookeeper/zookeeper-client-call.js";
import { Dialer } from "../../adapters/zookeeper/zookeeper-client-dialer.js";
import { loadNodeZooKeeperClient } from "../../adapters/zookeeper/zookeeper-client-package.js";
import type { ZooKeeperClient } from "../../adapters/zookeeper/zookeeper-wire.js";
import { systemClock } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import { fresh } from "../support/names.js";
import { connectRaw } from "../support/raw-session.js";
import { clientOptions, OPEN_TO_ALL, open, rejection, settled, soon, warnings, watchForStrayErrors } from "./zookeeper-client-support.js";

const server = inject("zookeeper");
const text = (value: string) => Buffer.from(value);
watchForStrayErrors();

/** A session, and a node of its own. */
async function withRoot(): Promise<{ zk: ZooKeeperClient; root: string }> {
  const zk = await open(server);
  return { zk, root: await zk.create(`/${fresh("client")}`, text("root"), "persistent", soon()) };
}

describe("requests", () => {
  it("do what they say", async () => {
    const { zk, root } = await withRoot();
    const made = await zk.create(`${root}/e-`, text("x"), "ephemeral-sequential", soon());
    expect(made).toBe(`${root}/e-0000000000`);
    const { data, stat } = await zk.getData(made, soon());
    expect(data.toString()).toBe("x");
    expect(stat.ephemeralOwner).toBe(zk.sessionId);
    expect((await zk.getChildren(root, soon())).children).toEqual(["e-0000000000"]);
    expect((await zk.setData(made, text("y"), 0, soon())).version).toBe(1);
    expect(await zk.exists(`${root}/none`, soon())).toBeNull();
    expect((await zk.exists(made, soon()))?.version).toBe(1);
    await zk.sync(root, soon());
    await zk.delete(made, 1, soon());
    expect((await zk.getChildren(root, soon())).stat).toMatchObject({ numChildren: 0, cversion: 2 });
  });

  it("keep empty data empty", async () => {
    const { zk, root } = await withRoot();
    await zk.setData(root, Buffer.alloc(0), -1, soon());
    expect((await zk.getData(root, soon())).data.length).toBe(0);
    await using raw = await connectRaw(server);
    expect((await raw.get(root)).data).toBe("");
  });

  it.each([
    ["NONODE", "rejected", (zk: ZooKeeperClient, root: string) => zk.getData(`${root}/none`, soon())],
    ["NODEEXISTS", "rejected", (zk: ZooKeeperClient, root: string) => zk.create(root, text(""), "persistent", soon())],
    ["BADVERSION", "rejected", (zk: ZooKeeperClient, root: string) => zk.setData(root, text(""), 7, soon())],
    ["NOTEMPTY", "rejected", async (zk: ZooKeeperClient, root: string) => {
      await zk.create(`${root}/child`, text(""), "persistent", soon());
      await zk.delete(root, -1, soon());
    }],
    ["BADARGUMENTS", "rejected", (zk: ZooKeeperClient, root: string) => zk.create(`${root}/..`, text(""), "persistent", soon())],
  ] as const)("say why they were refused: %s", async (name, code, attempt) => {
    const { zk, root } = await withRoot();
    expect(await rejection(attempt(zk, root))).toMatchObject({ zk: name, code, index: 0 });
    expect((await zk.getData(root, soon())).data.toString()).toBe("root");
  });

  it("larger than a server takes are refused here; the connection stays", async () => {
    const { zk, root } = await withRoot();
    const error = await rejection(zk.setData(root, Buffer.alloc(1_048_576), -1, soon()));
    expect(error).toMatchObject({ code: "too-large" });
    await zk.setData(root, Buffer.alloc(1_048_000), -1, soon());
  });

  it("made in one turn go out in that order", async () => {
    const { zk, root } = await withRoot();
    const versions = await Promise.all(Array.from({ length: 200 }, () => zk.setData(root, text(""), -1, soon())));
    expect(versions.map(({ version }) => version)).toEqual(versions.map((_, i) => i + 1));
  });

  it("may be ten thousand at once", async () => {
    const { zk, root } = await withRoot();
    const stats = await Promise.all(Array.from({ length: 10_000 }, () => zk.exists(root, soon())));
    expect(stats.every((stat) => stat?.version === 0)).toBe(true);
  });

  it("may share a signal without Node warning of a leak, and leave nothing on it", async () => {
    const seen = warnings();
    const { zk, root } = await withRoot();
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 30 }, () => zk.exists(root, signal)));
    const watches = Array.from({ length: 30 }, () => zk.watch("children", root, signal));
    await Promise.all(watches.map(({ armed }) => armed));
    for (let i = 0; i < 30; i++) zk.ended.addEventListener("abort", () => {});
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([]);
  });

  it("with a signal that has aborted are not sent", async () => {
    const { zk, root } = await withRoot();
    const reason = new Error("not wanted");
    expect(await rejection(zk.create(`${root}/x`, text(""), "persistent", AbortSignal.abort(reason)))).toBe(reason);
    expect((await zk.getChildren(root, soon())).children).toEqual([]);
  });

  it("go on when the transaction ids have run out", async () => {
    const pkg = await loadNodeZooKeeperClient();
    class NearTheEnd extends pkg.ConnectionManager {
      constructor(...args: ConstructorParameters<typeof pkg.ConnectionManager>) {
        super(...args);
        this.xid = 2 ** 31 - 3;
      }
    }
    const codec = new Codec(pkg.jute, "", OPEN_TO_ALL);
    const dialer = new Dialer({ ...pkg, ConnectionManager: NearTheEnd }, systemClock, clientOptions([server]), codec.closeSession().frame);
    const link = await dialer.first(soon());
    for (let i = 0; i < 6; i++) {
      const call = new Call(codec.exists("/"), soon(), () => {});
      link.send(call);
      expect(await call.promise).toMatchObject({ version: 0 });
    }
    link.destroy(new StoreError("session-ended", "done"));
  });
});

describe("transactions", () => {
  it("give a result for each operation", async () => {
    const { zk, root } = await withRoot();
    const results = await zk.multi(
      [
        { op: "check", path: root, version: 0 },
        { op: "create", path: `${root}/a-`, data: text("x"), mode: "ephemeral-sequential" },
        { op: "setData", path: root, data: text("y"), version: 0 },
        { op: "delete", path: `${root}/a-0000000000`, version: 0 },
      ],
      soon(),
    );
    expect(results).toMatchObject([null, `${root}/a-0000000000`, { version: 1 }, null]);
  });

  it.each(["check", "setData", "delete"] as const)("take version 0 at its word: %s", async (op) => {
    const { zk, root } = await withRoot();
    await zk.setData(root, text("1"), 0, soon());
    const operation = { op, path: root, data: text("2"), version: 0 };
    const error = await rejection(zk.multi([{ op: "check", path: "/", version: -1 }, operation], soon()));
    expect(error).toMatchObject({ zk: "BADVERSION", index: 1 });
    expect((await zk.getData(root, soon())).data.toString()).toBe("1");
  });

  it("change nothing when an operation is refused, and name it", async () => {
    const { zk, root } = await withRoot();
    const operations = [
      { op: "setData", path: root, data: text("changed"), version: -1 },
      { op: "delete", path: `${root}/none`, version: -1 },
      { op: "delete", path: root, version: -1 },
    ] as const;
    const error = await rejection(zk.multi(operations, soon()));
    expect(error).toMatchObject({ zk: "NONODE", index: 1 });
    expect(String(error)).toContain(`delete ${root}/none`);
    expect((await zk.getData(root, soon())).data.toString()).toBe("root");
  });
});

describe("watches", () => {
  type Change = (zk: ZooKeeperClient, path: string) => Promise<unknown>;
  const add: Change = (zk, path) => zk.create(`${path}/c`, text(""), "persistent", soon());
  const write: Change = (zk, path) => zk.setData(path, text("!"), -1, soon());
  const remove: Change = (zk, path) => zk.delete(path, -1, soon());
  it.each([
    ["children", "create a child", add],
    ["children", "delete the node", remove],
    ["data", "write", write],
    ["data", "delete the node", remove],
    ["exists", "write", write],
    ["exists", "delete the node", remove],
  ] as const)("on %s fire: %s", async (kind, _what, change) => {
    const { zk, root } = await withRoot();
    const watch = zk.watch(kind, root, soon());
    await watch.armed;
    expect(await settled(watch.fired)).toBe(false);
    await change(await open(server), root);
    await watch.fired;
  });

  it("for what does not exist yet fire when it comes", async () => {
    const { zk, root } = await withRoot();
    const watch = zk.watch("exists", `${root}/later`, soon());
    await watch.armed;
    await zk.create(`${root}/later`, text(""), "persistent", soon());
    await watch.fired;
  });

  it("on children are not used up by a write", async () => {
    const { zk, root } = await withRoot();
    const watch = zk.watch("children", root, soon());
    await watch.armed;
    await zk.setData(root, text("!"), -1, soon());
    expect(await settled(watch.fired)).toBe(false);
    await zk.create(`${root}/c`, text(""), "persistent", soon());
    await watch.fired;
  });

  it.each(["children", "data"] as const)("on %s of what does not exist reject and leave nothing", async (kind) => {
    const { zk, root } = await withRoot();
    const watch = zk.watch(kind, `${root}/none`, soon());
    expect(await rejection(watch.armed)).toMatchObject({ zk: "NONODE" });
    await zk.create(`${root}/none`, text(""), "persistent", soon());
    await zk.setData(`${root}/none`, text("!"), -1, soon());
    await zk.delete(`${root}/none`, -1, soon());
    expect(await settled(watch.fired)).toBe(false);
  });

  it("that were let go of, before or after they were armed, do not fire", async () => {
    const { zk, root } = await withRoot();
    const [before, after, kept] = [zk.watch("data", root, soon()), zk.watch("data", root, soon()), zk.watch("data", root, soon())];
    before.release();
    await Promise.all([before.armed, after.armed, kept.armed]);
    after.release();
    await zk.setData(root, text("!"), -1, soon());
    await kept.fired;
    expect(await settled(before.fired)).toBe(false);
    expect(await settled(after.fired)).toBe(false);
  });
});

describe("proofs", () => {
  it("vouch for the handshake at first, later for what was answered the gap before", async () => {
    const before = systemClock.mono();
    const { zk } = await withRoot();
    const opened = systemClock.mono();
    const first = await zk.prove("/", 300, soon());
    expect(first.mono).toBeGreaterThanOrEqual(before);
    expect(first.mono).toBeLessThanOrEqual(opened);
    await zk.exists("/", soon());
    const answered = systemClock.mono();
    await new Promise((resolve) => setTimeout(resolve, 350));
    const second = await zk.prove("/", 300, soon());
    expect(second.mono).toBeGreaterThan(opened);
    expect(second.mono).toBeLessThanOrEqual(answered);
  });

  it("hold also when the check fails, and are writes", async () => {
    const { zk, root } = await withRoot();
    const before = (await zk.setData(root, text("1"), -1, soon())).mzxid;
    await zk.prove(`${root}/none`, 100, soon());
    expect((await zk.setData(root, text("2"), -1, soon())).mzxid).toBe(before + 2n);
  });
});

describe("a chroot", () => {
  it("is put before every path, and taken off every answer", async () => {
    const outside = await open(server);
    const chroot = `/${fresh("chroot")}`;
    const zk = await open(server, { chroot });
    expect(await rejection(zk.getChildren("/", soon()))).toMatchObject({ zk: "NONODE" });
    expect(await zk.create("/", text("top"), "persistent", soon())).toBe("/");
    expect((await outside.getData(chroot, soon())).data.toString()).toBe("top");
    const watch = zk.watch("children", "/", soon());
    const missing = zk.watch("exists", "/a-0000000000", soon());
    await Promise.all([watch.armed, missing.armed]);
    expect(await zk.create("/a-", text(""), "ephemeral-sequential", soon())).toBe("/a-0000000000");
    await Promise.all([watch.fired, missing.fired]);
    const results = await zk.multi(
      [
        { op: "create", path: "/b-", data: text(""), mode: "ephemeral-sequential" },
        { op: "setData", path: "/", data: text("new"), version: 0 },
        { op: "check", path: "/a-0000000000", version: 0 },
        { op: "delete", path: "/a-0000000000", version: 0 },
      ],
      soon(),
    );
    expect(results).toMatchObject(["/b-0000000001", { version: 1 }, null, null]);
    await zk.sync("/", soon());
    await zk.prove("/", 100, soon());
    expect((await outside.getChildren(chroot, soon())).children).toEqual(["b-0000000001"]);
    expect((await zk.getChildren("/", soon())).children).toEqual(["b-0000000001"]);
  });
});

describe("credentials and ACLs", () => {
  it("keep others out, and let their owner in", async () => {
    const acl = [{ permissions: "cdrwa", scheme: "auth", id: "" }];
    const owner = await open(server, { auth: [{ scheme: "digest", credentials: "ann:secret" }], acl });
    const path = await owner.create(`/${fresh("acl")}`, text("x"), "persistent", soon());
    expect((await owner.getData(path, soon())).data.toString()).toBe("x");
    const other = await open(server, { auth: [{ scheme: "digest", credentials: "bob:secret" }] });
    expect(await rejection(other.getData(path, soon()))).toMatchObject({ zk: "NOAUTH", code: "auth", transient: false });
    expect(other.ended.aborted).toBe(false);
    await owner.delete(path, -1, soon());
  });

  it("give each permission by its letter", async () => {
    const zk = await open(server, { acl: [{ permissions: "cr", scheme: "world", id: "anyone" }] });
    const path = await zk.create(`/${fresh("acl")}`, text("x"), "persistent", soon());
    await zk.getData(path, soon());
    await zk.create(`${path}/child`, text(""), "ephemeral", soon());
    expect(await rejection(zk.setData(path, text(""), -1, soon()))).toMatchObject({ zk: "NOAUTH" });
    expect(await rejection(zk.delete(`${path}/child`, -1, soon()))).toMatchObject({ zk: "NOAUTH" });
  });

  it("that no server can hold are refused", async () => {
    const zk = await open(server, { acl: [{ permissions: "r", scheme: "auth", id: "" }] });
    expect(await rejection(zk.create(`/${fresh("acl")}`, text(""), "persistent", soon()))).toMatchObject({ zk: "INVALIDACL", code: "auth" });
  });

  it("of a scheme that the server does not know end the attempt to open", async () => {
    const error = await rejection(open(server, { auth: [{ scheme: "nonsense", credentials: "x" }] }));
    expect(error).toMatchObject({ code: "auth", transient: false });
    expect(String(error)).toContain("nonsense");
  });
});
