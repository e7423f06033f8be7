import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, inject, it } from "vitest";
import { spawnServer } from "./child-server.js";
import { expire } from "./expire-session.js";
import { fourLetter } from "./four-letter.js";
import { findZooKeeper } from "./install-zookeeper.js";
import { fresh } from "./names.js";
import { startProxy } from "./proxy.js";
import { connectRaw } from "./raw-session.js";
import { PATIENCE, until, within } from "./wait-for.js";
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
    await expect(until(refused, { timeout: 30, what: "the impossible" })).rejects.toThrow(
      "not within 30 ms: the impossible (last: refused)",
    );
    await expect(until(() => new Promise<boolean>(() => {}), { timeout: 30, what: "an answer" })).rejects.toThrow(
      "an answer (last: not within",
    );
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
    await expect(fourLetter(server.port, "srvr", 500)).rejects.toThrow(/within 500 ms/);
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
    await expect(startZooKeeper({ config: { tickTime: "soon" } })).rejects.toThrow(/ended at once:[\s\S]*NumberFormatException/);
  });

  it("does not outlive a test process that is killed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tenure-orphan-"));
    // Stands for a test process: the same code as child-server.ts, on `sleep` in place of java.
    const script = join(folder, "orphan.mjs");
    const source = new URL("./child-server.ts", import.meta.url).pathname;
    await promisify(execFile)("npx", [
      "tsc",
      source,
      "--outDir",
      folder,
      "--ignoreConfig",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--types",
      "node",
      "--skipLibCheck",
    ]);
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(
      script,
      `import { spawnServer } from "./child-server.js"; console.log((await spawnServer("sleep", ["1000"], ".", "log")).pid); setInterval(() => {}, 1000);`,
    );
    const parent = spawn(process.execPath, [script], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(process.kill(pid, 0)).toBe(true);
    parent.kill("SIGKILL");
    await until(() => !alive(pid), { what: "the orphan is killed" });
    await rm(folder, { recursive: true });
  });

  it("is told when its process has ended", async () => {
    const child = await spawnServer("sleep", ["1000"], tmpdir(), "/dev/null");
    process.kill(child.pid, "SIGKILL");
    await within(child.exited, PATIENCE);
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
    await session.multi([
      { op: "check", path, version: 1 },
      { op: "set", path, data: "d", version: 1 },
    ]);
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
    const path = `/${fresh("victim")}`;
    await victim.create(path, "", "ephemeral");
    const [session] = proxy.sessions();
    expect(session).toMatchObject({ id: victim.id, password: victim.password, timeout: 10_000 });
    await expect(expire(shared, { id: victim.id, password: Buffer.alloc(16) })).rejects.toThrow("expired already");
    expect(await watcher.exists(path)).not.toBe(null);
    await expire(shared, session as NonNullable<typeof session>);
    expect(await watcher.exists(path)).toBe(null);
    await expect(expire(shared, victim)).rejects.toThrow("expired already");
    await victim.close();
  });

  it("is not said to have been ended when a connection was cut first and the session had gone before", async () => {
    await using proxy = await startProxy(sharedPort);
    const cut = proxy.cutInsideNextReply(2);
    await expect(expire(proxy.address, { id: 1n, password: Buffer.alloc(16) })).rejects.toThrow("expired already");
    await cut;
  });
});

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
