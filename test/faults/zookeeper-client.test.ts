import { describe, expect, inject, it, onTestFinished } from "vitest";
import { Call } from "../../adapters/zookeeper/client/zookeeper-client-call.js";
import { Codec } from "../../adapters/zookeeper/client/zookeeper-client-codec.js";
import { Dialer } from "../../adapters/zookeeper/client/zookeeper-client-dialer.js";
import { loadNodeZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-client-package.js";
import type { ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { systemClock } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import { fresh } from "../support/names.js";
import { connectRaw } from "../support/raw-session.js";
import { startZooKeeper } from "../support/zookeeper-server.js";
import { clientOptions, OPEN_TO_ALL, open, rejection, soon, warnings, watchForStrayErrors } from "./zookeeper-client-support.js";

const server = inject("zookeeper");
const text = (value: string) => Buffer.from(value);
watchForStrayErrors();

/** A session, and a node of its own. */
async function withRoot(sessionTimeout = 10_000): Promise<{ zk: ZooKeeperClient; root: string }> {
  const zk = await open(server, { sessionTimeout });
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
    [
      "NOTEMPTY",
      "rejected",
      async (zk: ZooKeeperClient, root: string) => {
        await zk.create(`${root}/child`, text(""), "persistent", soon());
        await zk.delete(root, -1, soon());
      },
    ],
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
    const signal = soon();
    const stats = await Promise.all(Array.from({ length: 10_000 }, () => zk.exists(root, signal)));
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
    const codec = new Codec("", OPEN_TO_ALL);
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
    // A server of its own: others write to the shared one.
    const own = await startZooKeeper();
    onTestFinished(() => own.dispose());
    const zk = await open(own.address);
    await zk.create("/r", text("0"), "persistent", soon());
    const before = (await zk.setData("/r", text("1"), -1, soon())).mzxid;
    await zk.prove("/r/none", 100, soon());
    expect((await zk.setData("/r", text("2"), -1, soon())).mzxid).toBe(before + 2n);
  });
});
