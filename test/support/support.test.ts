import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { spawnJava } from "./child-java.js";
import { connectRequest, expire } from "./expire-session.js";
import { fourLetter } from "./four-letter.js";
import { findZooKeeper } from "./install-zookeeper.js";
import { fresh } from "./names.js";
import { OPCODES } from "./proxy-frames.js";
import { type FaultProxy, startProxy } from "./proxy.js";
import { connectRaw, type RawSession } from "./raw-session.js";
import { until, within } from "./wait-for.js";
import { startEnsemble, type ZooKeeperEnsemble } from "./zookeeper-ensemble.js";
import { startZooKeeper } from "./zookeeper-server.js";

const shared = inject("zookeeper");
const sharedPort = Number(shared.split(":")[1]);

describe("finding a ZooKeeper", () => {
  it("names Java when it is missing", async () => {
    await expect(findZooKeeper({ JAVA_HOME: "/nowhere" })).rejects.toThrow(/needs Java: install/);
  });

  it("refuses a ZOOKEEPER_HOME without a server", async () => {
    await expect(findZooKeeper({ ...process.env, ZOOKEEPER_HOME: tmpdir() })).rejects.toThrow(/holds a zookeeper-\*\.jar/);
  });

  it("names what to install when there is none and nothing to fetch it with", async () => {
    const java = (await promisify(execFile)("java", ["-XshowSettings:properties", "-version"])).stderr;
    const home = /java\.home = (.*)/.exec(java)?.[1] as string;
    await expect(findZooKeeper({ JAVA_HOME: home, XDG_CACHE_HOME: "/nowhere", PATH: "" })).rejects.toThrow(
      /Maven \(mvn\) is not installed\. Install Maven .*, or Debian's package zookeeper, or .* ZOOKEEPER_HOME/,
    );
  });
});

describe("waiting", () => {
  it("says what did not come about, and what the last attempt came to", async () => {
    const refused = () => Promise.reject(new Error("refused"));
    await expect(until(refused, { timeout: 30, what: "the impossible" })).rejects.toThrow("not within 30 ms: the impossible (last: refused)");
    await expect(until(() => new Promise<boolean>(() => {}), { timeout: 30, what: "an answer" })).rejects.toThrow("an answer (last: not within");
  });
});

describe("a server", () => {
  it("keeps port and data over a restart, loses them by wipe, and is mute while paused", async () => {
    await using server = await startZooKeeper({ jvm: ["-Dzookeeper.extendedTypesEnabled=true"], config: { maxSessionTimeout: 7_000 } });
    const before = await connectRaw(server.address, { sessionTimeout: 60_000 });
    expect(before.timeout).toBe(7_000);
    await before.create("/kept", "yes");
    await before.close();
    expect(await server.mntr()).toMatchObject({ zk_server_state: "standalone", zk_ephemerals_count: "0" });

    server.pause();
    await expect(server.mode()).rejects.toThrow(/within 2 s/);
    server.resume();
    expect(await server.mode()).toBe("standalone");

    const pid = server.pid;
    await server.stop("SIGKILL");
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    await server.start();
    await using after = await connectRaw(server.address);
    expect((await after.get("/kept")).data).toBe("yes");

    await server.stop();
    server.wipe();
    await server.start();
    await using empty = await connectRaw(server.address);
    expect(await empty.exists("/kept")).toBe(null);
  });

  it("tells why it could not start", async () => {
    await expect(startZooKeeper({ config: { tickTime: "soon" } })).rejects.toThrow(/ended at once:[^]*NumberFormatException/);
  });

  it("does not outlive a test process that is killed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tenure-orphan-"));
    // Stands for a test process: the same code as child-java.ts, on `sleep` in place of java.
    const script = join(folder, "orphan.mjs");
    const source = new URL("./child-java.ts", import.meta.url).pathname;
    await promisify(execFile)("npx", ["tsc", source, "--outDir", folder, "--ignoreConfig", "--module", "nodenext", "--target", "es2022", "--types", "node", "--skipLibCheck"]);
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(script, `import { spawnJava } from "./child-java.js"; console.log((await spawnJava("sleep", ["1000"], ".", "log")).pid); setInterval(() => {}, 1000);`);
    const parent = spawn(process.execPath, [script], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(process.kill(pid, 0)).toBe(true);
    parent.kill("SIGKILL");
    await until(() => !alive(pid), { what: "the orphan is killed" });
    await rm(folder, { recursive: true });
  });

  it("is told when its process has ended", async () => {
    const child = await spawnJava("sleep", ["1000"], tmpdir(), "/dev/null");
    process.kill(child.pid, "SIGKILL");
    await within(child.exited, 5_000);
    expect(child.running()).toBe(false);
  });
});

describe("a raw session", () => {
  it("writes, reads, deletes, and honours version 0 in a transaction", async () => {
    await using session = await connectRaw(shared);
    const path = `/${fresh("raw")}`;
    expect(await session.create(path, "a")).toBe(path);
    expect(await session.create(`${path}/n-`, "", "ephemeral-sequential")).toMatch(/n-0000000000$/);
    expect((await session.exists(`${path}/n-0000000000`))?.ephemeralOwner).toBe(session.id);
    await session.set(path, "b", 0);
    await expect(session.multi([{ op: "set", path, data: "c", version: 0 }])).rejects.toThrow(/BAD_VERSION/);
    await session.multi([{ op: "check", path, version: 1 }, { op: "set", path, data: "d", version: 1 }]);
    await session.sync();
    expect(await session.get(path)).toMatchObject({ data: "d", stat: { version: 2, numChildren: 1 } });
    await session.ensure(`${path}/x/y`);
    expect((await session.children(path)).sort()).toEqual(["n-0000000000", "x"]);
    await session.deleteAll(path);
    expect(await session.exists(path)).toBe(null);
  });

  it("is ended by force, from the credentials that its proxy has seen", async () => {
    await using proxy = await startProxy(sharedPort);
    await using watcher = await connectRaw(shared);
    const victim = await connectRaw(proxy.address);
    await expect(expire(shared, { id: victim.id, password: Buffer.alloc(16) })).rejects.toThrow("expired already");
    const path = `/${fresh("victim")}`;
    await victim.create(path, "", "ephemeral");
    const [session] = proxy.sessions();
    expect(session).toMatchObject({ id: victim.id, password: victim.password, timeout: 10_000 });
    await expire(shared, session as NonNullable<typeof session>);
    expect(await watcher.exists(path)).toBe(null);
    await expect(expire(shared, victim)).rejects.toThrow("expired already");
    await victim.close();
  });
});

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
      const took = performance.now() - start;
      expect(took).toBeGreaterThan(199);
      expect(took).toBeLessThan(390);
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
      await within(late.ended, 5_000);
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
      await expect(within(rawConnection(proxy.port).ended, 5_000)).resolves.toMatch(/ECONNREFUSED/);
      await proxy.accept();
      await until(() => session.connected, { what: "the session is attached again" });
    }));

  it("cuts inside a reply", () =>
    connected(async () => {
      const raw = rawConnection(proxy.port);
      const cut = proxy.cutInsideNextReply(7);
      raw.socket.write(connectRequest());
      await cut;
      await within(raw.ended, 5_000);
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

  it("drops a request", () =>
    connected(async () => {
      const dropped = proxy.dropRequest({ opcode: "create", thenCut: true });
      const lost = session.create(`${path}/dropped`).catch((error: Error) => error);
      await dropped;
      expect(String(await lost)).toMatch(/CONNECTION_LOSS/);
      expect(await direct.exists(`${path}/dropped`)).toBe(null);
    }));

  it("knows the opcodes of the package", async () => {
    const codes = (await import("node:module")).createRequire(import.meta.url)("node-zookeeper-client/lib/jute").OP_CODES as Record<string, number>;
    expect(OPCODES).toMatchObject({ create: codes["CREATE"], multi: codes["MULTI"], closeSession: codes["CLOSE_SESSION"], ping: codes["PING"] });
  });
});

describe("an ensemble", () => {
  let ensemble: ZooKeeperEnsemble;
  beforeAll(async () => {
    ensemble = await startEnsemble({ tickTime: 1_000, syncLimit: 4 });
  });
  afterAll(() => ensemble.dispose());

  it("answers at a follower that is cut off, though it cannot commit, and takes it back", async () => {
    const leader = await ensemble.leader();
    const [follower, other] = await ensemble.followers();
    if (!follower || !other) throw new Error("no followers");
    await using writer = await connectRaw(leader.address);
    const cutOff = await connectRaw(follower.address, { sessionTimeout: 4_000 });
    await writer.create("/before");
    await cutOff.sync();
    expect(await cutOff.exists("/before")).not.toBe(null);

    await using reader = await connectRaw(follower.address, { sessionTimeout: 20_000 });
    ensemble.cut(follower);
    const start = performance.now();
    await writer.create("/after");
    const proof = cutOff.sync().then(
      () => "committed",
      () => "lost",
    );
    // It gives up syncLimit (4 s) after it last heard from the leader, which speaks each half tick.
    let answered = 0;
    await until(
      async () => {
        if (!reader.connected) return true;
        expect(await reader.exists("/after")).toBe(null);
        answered = performance.now() - start;
        return false;
      },
      { what: "the follower gives up" },
    );
    expect(answered).toBeGreaterThan(3_000);
    expect(answered).toBeLessThan(4_500);
    expect(await proof).toBe("lost");

    ensemble.heal(follower);
    await follower.serving();
    await using back = await connectRaw(follower.address);
    await back.sync();
    expect(await back.exists("/after")).not.toBe(null);
    await cutOff.close();
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

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
