import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectZooKeeper } from "../../adapters/zookeeper/client/zookeeper-client.js";
import { systemClock } from "../../src/clock.js";
import { freePort } from "../support/free-port.js";
import type { Request } from "../support/proxy-frames.js";
import { until } from "../support/wait-for.js";
import { failures, hangUp, reply, type ScriptedServer, startScripted, welcome } from "./zookeeper-client-scripted.js";
import { clientOptions, open, rejection, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

watchForStrayErrors();

describe("opening", () => {
  it("gives up a server that accepts and says nothing, and goes to the next", async () => {
    const silent = await startScripted({ welcome: () => null });
    const talking = await startScripted();
    const zk = await open([silent.address, talking.address], { connectTimeout: 3000 }, { ...orderly, random: () => 0.5 });
    expect(zk.timeout).toBe(30_000);
    await until(() => silent.sockets.every(({ closed }) => closed), { what: "the silent connection is closed" });
  });

  it("names each server and what was wrong with it", async () => {
    const silent = await startScripted({ welcome: () => null });
    const dead = `127.0.0.1:${await freePort()}`;
    const error = await rejection(open([dead, silent.address, "[::1]:1", "no-such-host.invalid:2181"], { connectTimeout: 3000 }));
    expect(error).toMatchObject({ code: "unreachable", transient: true });
    expect(String(error)).toContain(`${dead}: connection refused`);
    expect(String(error)).toContain(`${silent.address}: no handshake within 3000 ms`);
    expect(String(error)).toContain("no-such-host.invalid:2181: ");
    expect(String(error)).toMatch(/\[::1\]:1: (?!no such host)/);
    expect(silent.sockets.length).toBe(1);
  });

  it("refuses a server that serves only reads", async () => {
    const server = await startScripted({ welcome: () => welcome({ readOnly: true }) });
    expect(String(await rejection(open(server.address)))).toContain("serves only reads");
  });

  it("refuses what does not speak ZooKeeper's protocol", async () => {
    const listener = createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const port = await freePort();
    listener.listen(port, "127.0.0.1");
    onTestFinished(() => void listener.close());
    expect(String(await rejection(open(`127.0.0.1:${port}`)))).toContain("not ZooKeeper's");
  });

  it("that is aborted rejects with that reason and leaves no connection", async () => {
    const server = await startScripted({ welcome: () => null });
    const abort = new AbortController();
    const opening = connectZooKeeper(clientOptions([server.address]), systemClock, abort.signal);
    await until(() => server.heard[0]?.length, { what: "the connect request has come" });
    const reason = new Error("not wanted");
    abort.abort(reason);
    expect(await rejection(opening)).toBe(reason);
    await until(() => server.sockets.every(({ closed }) => closed), { what: "the connection is closed" });
    expect(server.heard).toEqual([["connect", "closeSession"]]);
  });

  it("sends credentials before anything else, and waits for the answer to them", async () => {
    let answer: (() => void) | undefined;
    const server = await startScripted({
      answer: ({ xid, opcode }, connection) => {
        if (opcode !== "auth") return reply(xid);
        answer = () => void server.sockets[connection]?.write(reply(-4));
        return null;
      },
    });
    let opened = false;
    const opening = open(server.address, { auth: [{ scheme: "digest", credentials: "a:b" }] }).then((zk) => {
      opened = true;
      return zk;
    });
    const answered = await until(() => answer, { what: "the credentials have come" });
    expect(opened).toBe(false);
    answered();
    await opening;
    expect(server.heard).toEqual([["connect", "auth"]]);
  });
});

describe("answers of the server", () => {
  it.each([
    [-125, "QUOTAEXCEEDED"],
    [-127, "THROTTLEDOP"],
    [-999, "CODE_-999"],
    [7, "CODE_7"],
  ])("that the package does not know reject the request, and nothing else: %i", async (number, name) => {
    const server = await startScripted({ answer: ({ xid, opcode }) => reply(xid, opcode === "setData" ? number : 0) });
    const zk = await open(server.address);
    expect(await rejection(zk.setData("/", Buffer.alloc(1), -1, soon()))).toMatchObject({ zk: name, code: "rejected" });
    await zk.sync("/", soon());
    expect(server.sockets.length).toBe(1);
  });

  it("inside a transaction, that the package does not know, reject it", async () => {
    const server = await startScripted({
      answer: ({ xid, opcode }) => reply(xid, 0, opcode === "multi" ? failures(0, -125, -2) : undefined),
    });
    const zk = await open(server.address);
    const operation = { op: "check", path: "/", version: 1 } as const;
    expect(await rejection(zk.multi([operation, operation, operation], soon()))).toMatchObject({ zk: "QUOTAEXCEEDED", index: 1 });
    await zk.sync("/", soon());
    expect(server.sockets.length).toBe(1);
  });

  it.each([
    ["a proof that is refused", ({ xid }: Request) => reply(xid, -127), "THROTTLEDOP"],
    ["a proof in which the session has expired", ({ xid }: Request) => reply(xid, 0, failures(-112)), "SESSIONEXPIRED"],
    ["a proof of a session that has moved", ({ xid }: Request) => reply(xid, -118), "SESSIONMOVED"],
  ])("do not make a proof: %s", async (_what, answer, name) => {
    const server = await startScripted({ answer });
    const zk = await open(server.address);
    expect(await rejection(zk.prove("/", 0, soon()))).toMatchObject({ zk: name });
    if (name === "SESSIONEXPIRED") expect(zk.ended.reason).toMatchObject({ code: "session-ended" });
    else expect(zk.ended.aborted).toBe(false);
  });

  it("that the session has moved make the connection stale: it is left for another", async () => {
    const server = await startScripted({ answer: ({ xid }, connection) => reply(xid, connection === 0 ? -118 : 0) });
    const zk = await open(server.address);
    const first = rejection(zk.delete("/a", -1, soon()));
    const second = rejection(zk.delete("/b", -1, soon()));
    expect(await first).toMatchObject({ zk: "SESSIONMOVED", code: "connection-lost" });
    expect(await second).toMatchObject({ zk: "CONNECTIONLOSS", code: "connection-lost" });
    await zk.delete("/a", -1, soon());
    expect(server.sockets.length).toBe(2);
  });

  it("that the session has expired end it for good", async () => {
    const server = await startScripted({ answer: ({ xid }) => reply(xid, -112) });
    const zk = await open(server.address);
    const watch = zk.watch("data", "/", soon());
    expect(await rejection(watch.armed)).toMatchObject({ code: "session-ended" });
    expect(zk.ended.reason).toMatchObject({ code: "session-ended" });
    expect(await rejection(zk.sync("/", soon()))).toMatchObject({ code: "session-ended" });
    expect(server.sockets.length).toBe(1);
  });

  it.each([
    ["in a reply", ({ xid }: Request) => reply(xid, -112)],
    ["inside a transaction", ({ xid }: Request) => reply(xid, 0, failures(-112))],
  ])("that the session has expired, %s, abort `ended` before anybody hears of a rejection", async (_where, answer) => {
    const zk = await open((await startScripted({ answer })).address);
    const operations = [{ op: "check", path: "/", version: 1 }] as const;
    const heard = [1, 2].map(() => zk.multi(operations, soon()).catch(() => zk.ended.aborted));
    expect(await Promise.all(heard)).toEqual([true, true]);
  });

  it.each([
    ["out of order", (xid: number) => reply(xid + 1)],
    ["to nobody", () => Buffer.concat([reply(70), reply(71)])],
    ["too short", () => Buffer.from([0, 0, 0, 2, 1, 1])],
    ["of a negative length", () => Buffer.from([255, 0, 0, 2, 1, 1])],
    ["that cannot be read", (xid: number) => reply(xid, 0, Buffer.from([0, 0, 255, 255]))],
  ])("that make no sense break the connection, and throw nowhere: %s", async (_what, answer) => {
    const server = await startScripted({ answer: ({ xid }, connection) => (connection === 0 ? answer(xid) : reply(xid)) });
    const zk = await open(server.address);
    expect(await rejection(zk.getData("/", soon()))).toMatchObject({ zk: "CONNECTIONLOSS" });
    await zk.delete("/", -1, soon());
    expect(server.sockets.length).toBe(2);
  });

  it("of an unknown notification are passed over", async () => {
    const event = Buffer.alloc(13);
    event.writeInt32BE(-1, 0);
    event.writeInt32BE(1, 8);
    event.write("/", 12);
    const server = await startScripted({ answer: ({ xid }) => Buffer.concat([reply(-1, 0, event, -1n), reply(xid)]) });
    const zk = await open(server.address);
    await zk.delete("/", -1, soon());
    expect(server.sockets.length).toBe(1);
  });
});

describe("taking the session to another connection", () => {
  it("shows the newest state that was seen, also in notifications, and never a smaller one", async () => {
    const event = Buffer.alloc(13);
    event.writeInt32BE(3, 0);
    event.writeInt32BE(1, 8);
    event.write("/", 12);
    const server = await startScripted({
      answer: ({ xid, opcode }) => {
        if (opcode === "delete") return Buffer.concat([reply(xid, 0, undefined, 50n), reply(-1, 0, event, 60n)]);
        return opcode === "exists" ? reply(xid, -101, undefined, 0n) : reply(xid, -127, undefined, -1n);
      },
    });
    const zk = await open(server.address);
    await zk.delete("/", -1, soon());
    await rejection(zk.sync("/", soon()));
    await hangUp(server, zk);
    await rejection(zk.sync("/", soon()));
    expect(server.connects.map((frame) => frame.readBigInt64BE(8))).toEqual([0n, 60n]);
    expect(server.connects.map((frame) => frame.readBigInt64BE(20))).toEqual([0n, zk.sessionId]);
  });

  it("ends it when the other server grants less time than all proofs have counted on", async () => {
    const server = await startScripted({ welcome: (connection) => welcome({ timeout: connection === 0 ? 4000 : 2000 }) });
    const zk = await open(server.address);
    server.sockets[0]?.destroy();
    await until(() => zk.ended.aborted, { what: "the session is over" });
    expect(zk.ended.reason).toMatchObject({ code: "session-ended" });
    expect(zk.timeout).toBe(4000);
  });

  it("ends it when the credentials are refused there", async () => {
    const server = await startScripted({
      answer: ({ xid, opcode }, connection) => (opcode === "auth" ? reply(-4, connection === 0 ? 0 : -115) : reply(xid)),
    });
    const zk = await open(server.address, { auth: [{ scheme: "digest", credentials: "a:b" }] });
    server.sockets[0]?.destroy();
    await until(() => zk.ended.aborted, { what: "the session is over" });
    expect(zk.ended.reason).toMatchObject({ code: "auth" });
    expect(await rejection(zk.sync("/", soon()))).toMatchObject({ code: "auth" });
  });

  it("goes on with servers that hang up without a word, at a measured pace, until it is given up", async () => {
    const server = await startScripted({
      welcome: (connection) => {
        if (connection === 0) return welcome();
        server.sockets[connection]?.destroy();
        return null;
      },
    });
    const zk = await open(server.address);
    server.sockets[0]?.destroy();
    await until(() => server.sockets.length > 4, { what: "several attempts" });
    const waiting = rejection(zk.sync("/", soon()));
    const before = { sockets: server.sockets.length, time: systemClock.mono() };
    await until(() => server.sockets.length > before.sockets + 3, { what: "more attempts" });
    // The pauses are at least half of 100, 200, 400, 800, 1000 ms …: the three after the fourth attempt are 1300 ms or more.
    expect(systemClock.mono() - before.time).toBeGreaterThan(1200);
    expect(zk.ended.aborted).toBe(false);
    expect(await rejection(zk.close(AbortSignal.timeout(100)))).toMatchObject({ name: "TimeoutError" });
    expect(await waiting).toMatchObject({ code: "session-ended" });
    expect(zk.ended.aborted).toBe(true);
    const after = await accepted(server);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(server.sockets.length).toBe(after);
  });

  it("gives up a server that accepts and says nothing", async () => {
    const server = await startScripted({ welcome: (connection) => (connection === 1 ? null : welcome()) });
    const zk = await open(server.address, { connectTimeout: 3000 });
    await hangUp(server, zk);
    await zk.sync("/", soon());
    expect(server.heard).toEqual([["connect", "exists"], ["connect"], ["connect", "sync"]]);
  });
});

/** How many connections there were, those included that the system has accepted and the server has not heard of yet: a further one comes after them. */
async function accepted(server: ScriptedServer): Promise<number> {
  const before = server.sockets.length;
  const probe = connect(Number(server.address.split(":")[1]), "127.0.0.1");
  onTestFinished(() => void probe.destroy());
  await once(probe, "connect");
  const mine = () => server.sockets.findIndex(({ remotePort }) => remotePort === probe.localPort);
  await until(() => mine() >= before, { what: "the server hears of its last connection" });
  return server.sockets.length;
}

/** Servers in the order given. */
const orderly = {
  mono: () => systemClock.mono(),
  wall: () => systemClock.wall(),
  after: (ms: number, fn: () => void) => systemClock.after(ms, fn),
};
