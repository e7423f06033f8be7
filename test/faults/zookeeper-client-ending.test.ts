import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import type { ClientOptions, ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { timedOut } from "../../src/errors.js";
import { expire } from "../support/expire-session.js";
import { fourLetter } from "../support/four-letter.js";
import { fresh } from "../support/names.js";
import { type FaultProxy, startProxy } from "../support/proxy.js";
import { until } from "../support/wait-for.js";
import { CountingClock, open, rejection, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

const server = inject("zookeeper");
const port = Number(server.split(":")[1]);
const text = (value: string) => Buffer.from(value);
watchForStrayErrors();

async function proxied(
  options: Partial<ClientOptions> = {},
  clock = new CountingClock(),
): Promise<{ proxy: FaultProxy; zk: ZooKeeperClient; clock: CountingClock }> {
  const proxy = await startProxy(port);
  onTestFinished(() => proxy.dispose());
  return { proxy, zk: await open(proxy.address, options, clock), clock };
}

/** Ends the connection for longer, and waits until the client has noticed. */
async function disconnect(proxy: FaultProxy, zk: ZooKeeperClient): Promise<void> {
  const watch = zk.watch("data", "/", soon());
  await watch.armed;
  await proxy.refuse();
  proxy.cut();
  await watch.fired;
}

/** Whether the server still keeps a session. */
async function lives(session: bigint): Promise<boolean> {
  const dump = await fourLetter(port, "dump");
  return dump.toLowerCase().includes(`0x${BigInt.asUintN(64, session).toString(16)}`);
}

describe("an expiry", () => {
  it("ends the object: every request, sent or not, rejects, and every watch fires", async () => {
    const { proxy, zk, clock } = await proxied();
    const watch = zk.watch("data", "/", soon());
    await watch.armed;
    await proxy.refuse();
    proxy.cut();
    await watch.fired;
    const waiting = [zk.sync("/", soon()), zk.create("/never", text(""), "persistent", soon())].map(rejection);
    const unarmed = rejection(zk.watch("data", "/", soon()).armed);
    const [session] = proxy.sessions();
    if (session === undefined) throw new Error("no session");
    await expire(server, session);
    await proxy.accept();
    for (const error of await Promise.all([...waiting, unarmed])) expect(error).toMatchObject({ code: "session-ended", transient: false });
    expect(zk.ended.reason).toMatchObject({ code: "session-ended" });
    expect(await rejection(zk.sync("/", soon()))).toMatchObject({ code: "session-ended" });
    expect(await rejection(zk.prove("/", 0, soon()))).toMatchObject({ code: "session-ended" });
    expect(await rejection(zk.watch("data", "/", soon()).armed)).toMatchObject({ code: "session-ended" });
    await zk.close(soon());
    expect(clock.pending).toBe(0);
  });

  it("under requests on their way rejects them once the server has said so, and not before", async () => {
    const { proxy, zk } = await proxied();
    const ended = new Promise((resolve) => zk.ended.addEventListener("abort", resolve, { once: true }));
    const watch = zk.watch("data", "/", soon());
    await watch.armed;
    const [session] = proxy.sessions();
    if (session === undefined) throw new Error("no session");
    await expire(server, session);
    await watch.fired;
    await ended;
    expect(await rejection(zk.sync("/", soon()))).toMatchObject({ code: "session-ended" });
  });

  it("aborts `ended` before anybody hears of a rejection", async () => {
    const { proxy, zk } = await proxied();
    await disconnect(proxy, zk);
    const waiting = zk.sync("/", soon()).catch(() => zk.ended.aborted);
    const [session] = proxy.sessions();
    if (session === undefined) throw new Error("no session");
    await expire(server, session);
    await proxy.accept();
    expect(await waiting).toBe(true);
  });
});

describe("closing", () => {
  it("ends the session at the server and leaves nothing here", async () => {
    const { zk, clock, proxy } = await proxied();
    const path = await zk.create(`/${fresh("close")}`, text(""), "ephemeral", soon());
    const watch = zk.watch("data", path, soon());
    await watch.armed;
    await zk.close(soon());
    await watch.fired;
    expect(zk.ended.reason).toMatchObject({ code: "session-ended" });
    expect(await lives(zk.sessionId)).toBe(false);
    expect(clock.pending).toBe(0);
    await until(() => proxy.connections === 0, { what: "the connection is closed" });
    const other = await open(server);
    expect(await other.exists(path, soon())).toBeNull();
    await zk.close(soon());
  });

  it("rejects what is still pending, and whatever is asked for afterwards", async () => {
    const { zk, proxy } = await proxied();
    proxy.hold("down");
    const pending = rejection(zk.sync("/", soon()));
    const closing = zk.close(soon());
    expect(await pending).toMatchObject({ code: "session-ended" });
    expect(await rejection(zk.sync("/", soon()))).toMatchObject({ code: "session-ended" });
    proxy.release();
    await closing;
  });

  it("during a reconnect waits for the connection, and ends the session", async () => {
    const { zk, proxy, clock } = await proxied();
    await disconnect(proxy, zk);
    const pending = rejection(zk.sync("/", soon()));
    const closing = zk.close(soon());
    expect(await pending).toMatchObject({ code: "session-ended" });
    await proxy.accept();
    await closing;
    expect(await lives(zk.sessionId)).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it("whose reply is lost asks again, and is content with a session that has gone", async () => {
    const { zk, proxy, clock } = await proxied();
    void proxy.dropReply({ opcode: "closeSession", thenCut: true });
    await zk.close(soon());
    expect(await lives(zk.sessionId)).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it("whose request is lost asks again", async () => {
    const { zk, proxy } = await proxied();
    void proxy.dropRequest({ opcode: "closeSession", thenCut: true });
    await zk.close(soon());
    expect(await lives(zk.sessionId)).toBe(false);
  });

  it("that takes too long rejects with that reason; the object is dead all the same", async () => {
    const { zk, proxy, clock } = await proxied();
    await disconnect(proxy, zk);
    const abort = new AbortController();
    const closing = rejection(zk.close(abort.signal));
    const reason = timedOut("close", 100);
    abort.abort(reason);
    expect(await closing).toBe(reason);
    expect(zk.ended.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("that is aborted already gives up", async () => {
    const { zk, clock } = await proxied();
    const reason = new Error("not wanted");
    expect(await rejection(zk.close(AbortSignal.abort(reason)))).toBe(reason);
    expect(zk.ended.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("twice at once is once", async () => {
    const { zk, proxy } = await proxied();
    await Promise.all([zk.close(soon()), zk.close(soon())]);
    expect(proxy.requests("connect")).toBe(1);
    expect(await lives(zk.sessionId)).toBe(false);
  });
});

describe("giving up", () => {
  it("sends not a byte more, from this very call on", async () => {
    const { zk, proxy, clock } = await proxied();
    const path = await zk.create(`/${fresh("destroy")}`, text(""), "ephemeral", soon());
    const watch = zk.watch("data", path, soon());
    await watch.armed;
    // Asked for in the same turn: it has not gone out yet.
    const pending = rejection(zk.setData(path, text("!"), -1, soon()));
    zk.destroy();
    expect(zk.ended.reason).toMatchObject({ code: "session-ended" });
    expect(await pending).toMatchObject({ code: "session-ended" });
    await watch.fired;
    expect(await rejection(zk.sync("/", soon()))).toMatchObject({ code: "session-ended" });
    await until(() => proxy.connections === 0, { what: "the connection is closed" });
    expect(proxy.requests("setData")).toBe(0);
    expect(proxy.requests("closeSession")).toBe(0);
    expect(clock.pending).toBe(0);
    // Only the store's own timeout ends the session.
    expect(await lives(zk.sessionId)).toBe(true);
    zk.destroy();
  });

  it("during a reconnect leaves no attempt", async () => {
    const { zk, proxy, clock } = await proxied();
    await disconnect(proxy, zk);
    zk.destroy();
    await proxy.accept();
    await sleep(1100);
    expect(proxy.requests("connect")).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it("in the middle of a handshake leaves none either", async () => {
    const { zk, proxy, clock } = await proxied();
    proxy.hold("down");
    const reconnecting = proxy.onRequest("connect");
    zk.exists("/", AbortSignal.timeout(10)).catch(() => {});
    const abort = new AbortController();
    zk.sync("/", abort.signal).catch(() => {});
    abort.abort(timedOut("sync", 1));
    await reconnecting;
    zk.destroy();
    proxy.release();
    await until(() => proxy.connections === 0, { what: "the connection is closed" });
    expect(proxy.requests("closeSession")).toBe(0);
    expect(clock.pending).toBe(0);
    expect(await lives(zk.sessionId)).toBe(true);
  });
});
