import { connect } from "node:net";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import type { ClientOptions, ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { type Clock, systemClock } from "../../src/clock.js";
import { timedOut } from "../../src/errors.js";
import { connectRequest } from "../support/expire-session.js";
import { fresh } from "../support/names.js";
import { type FaultProxy, startProxy } from "../support/proxy.js";
import { connectRaw } from "../support/raw-session.js";
import { PATIENCE, until, within } from "../support/wait-for.js";
import { startZooKeeper } from "../support/zookeeper-server.js";
import { CountingClock, open, rejection, settled, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

const server = inject("zookeeper");
const text = (value: string) => Buffer.from(value);
watchForStrayErrors();

async function proxied(
  options: Partial<ClientOptions> = {},
  clock: Clock = systemClock,
): Promise<{ proxy: FaultProxy; zk: ZooKeeperClient; root: string }> {
  const proxy = await startProxy(Number(server.split(":")[1]));
  onTestFinished(() => proxy.dispose());
  const zk = await open(proxy.address, options, clock);
  return { proxy, zk, root: await zk.create(`/${fresh("link")}`, text(""), "persistent", soon()) };
}

/** Ends the connection, and waits until the client has noticed. */
async function cut(proxy: FaultProxy, zk: ZooKeeperClient): Promise<void> {
  const watch = zk.watch("data", "/", soon());
  await watch.armed;
  proxy.cut();
  await watch.fired;
}

describe("a dead link", () => {
  it("is noticed after two thirds of the session's timeout, and the session goes on at another server", async () => {
    const port = Number(server.split(":")[1]);
    const proxies = [await startProxy(port), await startProxy(port)] as const;
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.dispose()))));
    const clock = new PacedClock();
    const zk = await open(
      proxies.map(({ address }) => address),
      {},
      clock,
    );
    const path = await zk.create(`/${fresh("link")}`, text(""), "ephemeral", soon());
    const used = proxies.find(({ connections }) => connections > 0) as FaultProxy;
    const watch = zk.watch("children", path, soon());
    await watch.armed;
    const before = systemClock.mono();
    used.blackhole();
    const silent = rejection(zk.sync("/", soon()));
    await watch.fired;
    // When exactly is what zookeeper-pulse.test.ts tests.
    expect(systemClock.mono() - before).toBeGreaterThan(zk.timeout / 2);
    expect(await silent).toMatchObject({ zk: "CONNECTIONLOSS" });
    expect((await zk.getData(path, soon())).stat.ephemeralOwner).toBe(zk.sessionId);
    // Reconnected at once, not after a pause.
    expect(clock.pauses).toEqual([]);
  });

  it("is noticed within the read timeout that was asked for", async () => {
    const { proxy, zk } = await proxied({ readTimeout: 3000 });
    const watch = zk.watch("data", "/", soon());
    await watch.armed;
    proxy.blackhole();
    const before = systemClock.mono();
    const silent = rejection(zk.sync("/", soon()));
    await watch.fired;
    // Without it, two thirds of the session's timeout: 6.7 s.
    expect(systemClock.mono() - before).toBeLessThan(6000);
    proxy.heal();
    await silent;
    await zk.sync("/", soon());
  });

  it("is noticed while nothing is asked for: pings find it", async () => {
    const { proxy, zk } = await proxied({ sessionTimeout: 4000 });
    const watch = zk.watch("data", "/", new AbortController().signal);
    await watch.armed;
    proxy.blackhole();
    await within(watch.fired, PATIENCE, "the dead link is noticed");
  });

  it("is left as soon as an attempt on it has timed out", async () => {
    const { proxy, zk, root } = await proxied();
    const watch = zk.watch("data", root, soon());
    await watch.armed;
    proxy.hold("down");
    const abort = new AbortController();
    const late = rejection(zk.sync("/", abort.signal));
    const together = rejection(zk.exists(root, abort.signal));
    const other = rejection(zk.exists(root, soon()));
    const reason = timedOut("sync", 100);
    abort.abort(reason);
    expect(await late).toBe(reason);
    expect(await together).toBe(reason);
    // At once, not when the read timeout is over.
    await within(Promise.all([other, watch.fired]), zk.timeout / 2, "the link is left");
    expect(await other).toMatchObject({ zk: "CONNECTIONLOSS" });
    proxy.release();
    expect(await zk.exists(root, soon())).toMatchObject({ version: 0 });
    expect(proxy.requests("connect")).toBe(2);
  });

  it("is not what an attempt is on that is merely not wanted any more", async () => {
    const { proxy, zk, root } = await proxied();
    proxy.hold("down");
    const abort = new AbortController();
    const dropped = rejection(zk.create(`${root}/a`, text(""), "persistent", abort.signal));
    const watch = zk.watch("data", root, abort.signal);
    const unarmed = rejection(watch.armed);
    const reason = new Error("not wanted");
    abort.abort(reason);
    expect(await dropped).toBe(reason);
    expect(await unarmed).toBe(reason);
    proxy.release();
    // Its late reply goes nowhere: the next reply is this one's own.
    expect((await zk.getChildren(root, soon())).children).toEqual(["a"]);
    await zk.setData(root, text("!"), -1, soon());
    expect(await settled(watch.fired)).toBe(false);
    expect(proxy.requests("connect")).toBe(1);
  });
});

describe("a connection that breaks", () => {
  it.each([2, 6, 21])("inside a reply, after %i bytes, leaves nothing of it for the next one", async (bytes) => {
    const { proxy, zk, root } = await proxied();
    const cutting = proxy.cutInsideNextReply(bytes);
    expect(await rejection(zk.getData(root, soon()))).toMatchObject({ zk: "CONNECTIONLOSS", code: "connection-lost", transient: true });
    await cutting;
    expect((await zk.getData(root, soon())).stat.version).toBe(0);
    expect(zk.ended.aborted).toBe(false);
  });

  it("under a create does not repeat it", async () => {
    const { proxy, zk, root } = await proxied();
    void proxy.dropReply({ opcode: "create", thenCut: true });
    expect(await rejection(zk.create(`${root}/a-`, text(""), "ephemeral-sequential", soon()))).toMatchObject({ code: "connection-lost" });
    await zk.sync(root, soon());
    expect((await zk.getChildren(root, soon())).children.length).toBe(1);
    expect(proxy.requests("create")).toBe(2);
  });

  it("fires every watch, and asks for none of them anew", async () => {
    const { proxy, zk, root } = await proxied();
    const watches = (["children", "data", "exists"] as const).map((kind) => zk.watch(kind, root, soon()));
    await Promise.all(watches.map(({ armed }) => armed));
    const unarmed = zk.watch("exists", `${root}/none`, soon());
    await unarmed.armed;
    proxy.cut();
    await Promise.all([...watches, unarmed].map(({ fired }) => fired));
    await zk.sync(root, soon());
    expect(proxy.requests("setWatches")).toBe(0);
    expect(proxy.requests("setWatches2")).toBe(0);
  });

  it("before a watch was armed rejects that, and never fires it", async () => {
    const { proxy, zk, root } = await proxied();
    void proxy.dropReply({ opcode: "getData", thenCut: true });
    const watch = zk.watch("data", root, soon());
    expect(await rejection(watch.armed)).toMatchObject({ code: "connection-lost" });
    await zk.setData(root, text("!"), -1, soon());
    expect(await settled(watch.fired)).toBe(false);
  });

  it("lets requests wait for the next one, in their order, after the credentials", async () => {
    const acl = [{ permissions: "cdrwa", scheme: "auth", id: "" }];
    const { proxy, zk, root } = await proxied({ auth: [{ scheme: "digest", credentials: "ann:secret" }], acl });
    await proxy.refuse();
    await cut(proxy, zk);
    const waiting = Promise.all(Array.from({ length: 20 }, (_, i) => zk.setData(root, text(String(i)), i, soon())));
    const unwanted = new AbortController();
    const dropped = rejection(zk.setData(root, text("never"), -1, unwanted.signal));
    unwanted.abort(timedOut("write", 1));
    expect(await dropped).toBe(unwanted.signal.reason);
    await proxy.accept();
    expect((await waiting).map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect((await zk.getData(root, soon())).data.toString()).toBe("19");
  });

  it("is followed by attempts quick enough to save a session of 4 s, and not in a frenzy", async () => {
    const clock = new PacedClock();
    const { proxy, zk } = await proxied({}, clock);
    await proxy.refuse();
    await cut(proxy, zk);
    const waiting = zk.sync("/", soon());
    await until(() => clock.pauses.length >= 7, { what: "the pauses grow no more" });
    await proxy.accept();
    await waiting;
    expect(zk.ended.aborted).toBe(false);
    expect(clock.pauses.slice(0, 7)).toEqual([...PAUSES, 500, 500]);
  });

  it("takes with it what had been proved on it", async () => {
    const { proxy, zk } = await proxied();
    await zk.sync("/", soon());
    await cut(proxy, zk);
    const noticed = systemClock.mono();
    expect((await zk.prove("/", 0, soon())).mono).toBeGreaterThanOrEqual(noticed);
  });

  it("because another one took the session over is replaced", async () => {
    const { proxy, zk, root } = await proxied();
    const path = await zk.create(`${root}/mine`, text(""), "ephemeral", soon());
    const watch = zk.watch("data", root, soon());
    await watch.armed;
    const thief = connect(Number(server.split(":")[1]), "127.0.0.1");
    onTestFinished(() => void thief.destroy());
    thief.write(connectRequest(proxy.sessions()[0]));
    await watch.fired;
    expect((await zk.getData(path, soon())).stat.ephemeralOwner).toBe(zk.sessionId);
    expect(proxy.requests("connect")).toBe(2);
  });
});

describe("a server that stops and starts", () => {
  it("finds the session alive again", async () => {
    await using own = await startZooKeeper({ tickTime: 500 });
    const zk = await open(own.address, { sessionTimeout: 10_000 });
    const path = await zk.create(`/${fresh("restart")}`, text(""), "ephemeral", soon());
    await own.stop();
    const waiting = zk.getData(path, soon());
    await own.start();
    expect((await waiting.catch(() => zk.getData(path, soon()))).stat.ephemeralOwner).toBe(zk.sessionId);
  });

  it("without its data refuses the session without a word; it can be given up, and a new one opens", async () => {
    await using own = await startZooKeeper({ tickTime: 500 });
    const zk = await open(own.address);
    for (let i = 0; i < 20; i++) await zk.create(`/n${i}`, text(""), "persistent", soon());
    await own.stop();
    own.wipe();
    await own.start();
    expect(await rejection(zk.sync("/", AbortSignal.timeout(1500)))).toMatchObject({ name: "TimeoutError" });
    expect(zk.ended.aborted).toBe(false);
    zk.destroy();
    expect(zk.ended.reason).toMatchObject({ code: "session-ended" });
    const next = await open(own.address);
    expect((await next.getChildren("/", soon())).children).toEqual(["zookeeper"]);
  });
});

describe("a session that only receives", () => {
  it("is kept alive: pings do not wait for silence", async () => {
    const { zk, root, proxy } = await proxied({ sessionTimeout: 4000 });
    await using writer = await connectRaw(server);
    const paths = Array.from({ length: 60 }, (_, i) => `${root}/n${i}`);
    await Promise.all(paths.map((path) => writer.create(path)));
    const watches = paths.map((path) => zk.watch("data", path, soon()));
    await Promise.all(watches.map(({ armed }) => armed));
    const before = proxy.requests("ping");
    const from = performance.now();
    for (const [i, path] of paths.entries()) {
      await writer.set(path, "!");
      await watches[i]?.fired;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(zk.ended.aborted).toBe(false);
    expect(await zk.exists(root, soon())).not.toBeNull();
    expect(proxy.requests("connect")).toBe(1);
    // One in each third of the session's timeout; how many of these there were is up to the machine.
    const thirds = (performance.now() - from) / (4000 / 3);
    expect(proxy.requests("ping") - before).toBeGreaterThanOrEqual(Math.floor(thirds / 2));
    expect(proxy.requests("ping") - before).toBeLessThanOrEqual(Math.ceil(thirds) + 1);
  });

  it("does not ping beside requests", async () => {
    const { zk, proxy } = await proxied();
    for (const end = performance.now() + zk.timeout / 2; performance.now() < end; ) {
      await zk.exists("/", soon());
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(proxy.requests("ping")).toBe(0);
    await until(() => proxy.requests("ping") > 0, { what: "a ping, when nothing else is asked for" });
    expect(zk.ended.aborted).toBe(false);
  });
});

/** The least that chance makes of 100, 200, 400, 800 and 1000 ms. */
const PAUSES = [50, 100, 200, 400, 500];

/** The machine's clock, which notes the pauses between attempts to connect: of those that chance allows, the shortest. */
class PacedClock extends CountingClock {
  override random(): number {
    return 0;
  }

  get pauses(): number[] {
    return this.delays.filter((ms) => PAUSES.includes(ms));
  }
}
