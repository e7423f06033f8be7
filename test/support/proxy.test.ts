import { createRequire } from "node:module";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { connectRequest, expire } from "./expire-session.js";
import { fourLetter } from "./four-letter.js";
import { fresh } from "./names.js";
import { type FaultProxy, startProxy } from "./proxy.js";
import { OPCODES } from "./proxy-frames.js";
import { connectRaw, type RawSession } from "./raw-session.js";
import { PATIENCE, until, within } from "./wait-for.js";

const shared = inject("zookeeper");
const sharedPort = Number(shared.split(":")[1]);

describe("a proxy", () => {
  let proxy: FaultProxy;
  let session: RawSession;
  let direct: RawSession;
  const path = `/${fresh("proxy")}`;

  beforeAll(async () => {
    direct = await connectRaw(shared);
    await direct.create(path);
  });
  afterAll(async () => {
    await direct.deleteAll(path);
    await direct.close();
  });

  async function connected<T>(run: () => Promise<T>): Promise<void> {
    proxy = await startProxy(sharedPort);
    session = await connectRaw(proxy.address);
    try {
      await run();
    } finally {
      await proxy.dispose();
      await expire(shared, session).catch(() => {});
      await session.close();
    }
  }

  it("counts and announces requests, and passes four-letter words", () =>
    connected(async () => {
      const seen = proxy.onRequest("create", 2);
      await session.create(`${path}/a`);
      await session.create(`${path}/b`);
      await seen;
      expect(proxy.requests("create")).toBe(2);
      expect(proxy.requests()).toContainEqual({ opcode: "connect", count: 1 });
      expect(proxy.connections).toBe(1);
      expect(await fourLetter(proxy.port, "ruok")).toBe("imok");
    }));

  it("holds back each direction and keeps the order", () =>
    connected(async () => {
      proxy.hold("up");
      const first = session.create(`${path}/h-`, "", "persistent-sequential");
      const second = session.create(`${path}/h-`, "", "persistent-sequential");
      await proxy.onRequest("create", 2);
      expect(proxy.held).toBe(2);
      expect((await direct.children(path)).filter((name) => name.startsWith("h-"))).toEqual([]);
      proxy.release();
      expect((await first) < (await second)).toBe(true);

      proxy.hold("down");
      const third = session.create(`${path}/held`);
      await until(() => direct.exists(`${path}/held`), { what: "the create took effect" });
      await expect(within(third, 50)).rejects.toThrow("not within");
      proxy.release();
      await third;
    }));

  it("delays", () =>
    connected(async () => {
      proxy.delay(100);
      const start = performance.now();
      await Promise.all([session.exists(path), session.exists(path)]);
      expect(performance.now() - start).toBeGreaterThan(199);
    }));

  it("swallows both ways, keeps the connection open, and destroys it when healed", () =>
    connected(async () => {
      proxy.blackhole();
      const lost = session.create(`${path}/lost`).catch((error: Error) => error);
      await proxy.onRequest("create");
      await using late = rawConnection(proxy.port);
      late.socket.write("ruok");
      await expect(within(late.ended, 100)).rejects.toThrow("not within");
      expect(session.connected).toBe(true);
      expect(await direct.exists(`${path}/lost`)).toBe(null);
      proxy.heal();
      expect(String(await lost)).toMatch(/CONNECTION_LOSS/);
      await within(late.ended, PATIENCE);
      await until(() => session.connected, { what: "the session is attached again" });
      expect(await session.exists(`${path}/lost`)).toBe(null);
    }));

  it("swallows one way", () =>
    connected(async () => {
      proxy.blackhole("down");
      const lost = session.create(`${path}/one-way`).catch((error: Error) => error);
      await until(() => direct.exists(`${path}/one-way`), { what: "the request got through" });
      await expect(within(lost, 50)).rejects.toThrow("not within");
      proxy.heal();
      expect(String(await lost)).toMatch(/CONNECTION_LOSS/);
    }));

  it("cuts, refuses and accepts", () =>
    connected(async () => {
      await proxy.refuse();
      await session.exists(path);
      proxy.cut();
      await until(() => !session.connected, { what: "the cut is noticed" });
      await expect(within(rawConnection(proxy.port).ended, PATIENCE)).resolves.toMatch(/ECONNREFUSED/);
      await proxy.accept();
      await until(() => session.connected, { what: "the session is attached again" });
    }));

  it("cuts inside a reply", () =>
    connected(async () => {
      const raw = rawConnection(proxy.port);
      const cut = proxy.cutInsideNextReply(7);
      raw.socket.write(connectRequest());
      await cut;
      await within(raw.ended, PATIENCE);
      expect(raw.received()).toHaveLength(7);

      const lost = session.create(`${path}/inside`).catch((error: Error) => error);
      await proxy.cutInsideNextReply(10);
      expect(String(await lost)).toMatch(/CONNECTION_LOSS/);
      expect(await direct.exists(`${path}/inside`)).not.toBe(null);
    }));

  it("drops the reply to one request", () =>
    connected(async () => {
      const dropped = proxy.dropReply({ opcode: "create", nth: 2, thenCut: true });
      await session.create(`${path}/first`);
      const lost = session.create(`${path}/second`).catch((error: Error) => error);
      await dropped;
      expect(String(await lost)).toMatch(/CONNECTION_LOSS/);
      expect(await direct.exists(`${path}/second`)).not.toBe(null);
      await until(() => session.connected, { what: "the session is attached again" });
      await session.create(`${path}/third`);
    }));

  it("says that a reply is dropped also when the connection ends before it comes", () =>
    connected(async () => {
      const dropped = proxy.dropReply({ opcode: "create" });
      proxy.hold("up");
      const lost = session.create(`${path}/never-sent`).catch((error: Error) => error);
      await proxy.onRequest("create");
      proxy.cut();
      await dropped;
      expect(String(await lost)).toMatch(/CONNECTION_LOSS/);
    }));

  it("drops a request", () =>
    connected(async () => {
      const dropped = proxy.dropRequest({ opcode: "create", thenCut: true });
      const lost = session.create(`${path}/dropped`).catch((error: Error) => error);
      await dropped;
      expect(String(await lost)).toMatch(/CONNECTION_LOSS/);
      expect(await direct.exists(`${path}/dropped`)).toBe(null);
    }));

  it("knows the opcodes of the package", () => {
    const codes = createRequire(import.meta.url)("node-zookeeper-client/lib/jute").OP_CODES as Record<string, number>;
    expect(OPCODES).toMatchObject({
      create: codes.CREATE,
      multi: codes.MULTI,
      closeSession: codes.CLOSE_SESSION,
      ping: codes.PING,
    });
  });
});

function rawConnection(port: number) {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  let failure = "";
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", (error) => {
    failure = String(error);
  });
  const ended = new Promise<string>((resolve) => socket.on("close", () => resolve(failure)));
  return { socket, ended, received: () => Buffer.concat(chunks), [Symbol.asyncDispose]: async () => void socket.destroy() };
}
