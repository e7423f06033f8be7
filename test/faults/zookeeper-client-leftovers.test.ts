import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { connectZooKeeper } from "../../adapters/zookeeper/client/zookeeper-client.js";
import { startProxy } from "../support/proxy.js";
import { PATIENCE, until, within } from "../support/wait-for.js";
import { startZooKeeper } from "../support/zookeeper-server.js";
import { startScripted } from "./zookeeper-client-scripted.js";
import { CountingClock, clientOptions, rejection, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

const server = inject("zookeeper");
/** Of sessions that are not to expire in a test, ms. */
const LASTING = 4 * PATIENCE;
watchForStrayErrors();

describe("an attempt to open that is aborted", () => {
  it("at any moment leaves no timer, no connection and no session", async () => {
    await using own = await startZooKeeper({ tickTime: 500, config: { maxSessionTimeout: LASTING } });
    const proxy = await startProxy(own.port);
    onTestFinished(() => proxy.dispose());
    const clock = new CountingClock();
    const reason = new Error("not wanted");
    const auth = [{ scheme: "digest", credentials: "a:b" }];
    let opened = 0;
    for (let i = 0; i < 60; i++) {
      const abort = new AbortController();
      const opening = connectZooKeeper(
        clientOptions([proxy.address], { sessionTimeout: LASTING, ...(i % 2 === 0 && { auth }) }),
        clock,
        abort.signal,
      );
      const settled = opening.then(
        (zk) => {
          opened++;
          return zk.close(soon());
        },
        (error: unknown) => expect(error).toBe(reason),
      );
      if (i < 5) await Promise.resolve();
      else await Promise.race([settled, sleep((i % 20) / 4)]);
      abort.abort(reason);
      await settled;
      expect(clock.pending).toBe(0);
    }
    expect(opened).toBeLessThan(60);
    await until(() => proxy.connections === 0, { what: "all connections are closed" });
    const sessions = async () => Number((await own.mntr()).zk_global_sessions);
    await until(async () => (await sessions()) === 0, { what: "no session is left, though none has expired" });
  });

  it("while the answer to the handshake is on its way, too", async () => {
    await using own = await startZooKeeper({ tickTime: 500, config: { maxSessionTimeout: LASTING } });
    const proxy = await startProxy(own.port);
    onTestFinished(() => proxy.dispose());
    const clock = new CountingClock();
    proxy.hold("down");
    const abort = new AbortController();
    const opening = rejection(connectZooKeeper(clientOptions([proxy.address], { sessionTimeout: LASTING }), clock, abort.signal));
    const sessions = async () => Number((await own.mntr()).zk_global_sessions);
    await until(async () => (await sessions()) === 1, { what: "the server has opened a session" });
    abort.abort(new Error("not wanted"));
    expect(await opening).toBe(abort.signal.reason);
    expect(clock.pending).toBe(0);
    await until(async () => (await sessions()) === 0, { what: "no session is left, though none has expired" });
  });

  it("before it began connects to nobody", async () => {
    const scripted = await startScripted();
    const reason = new Error("not wanted");
    expect(await rejection(connectZooKeeper(clientOptions([scripted.address]), new CountingClock(), AbortSignal.abort(reason)))).toBe(
      reason,
    );
    expect(scripted.sockets.length).toBe(0);
  });
});

describe("a process that uses a session", () => {
  const script = `
    const { connectZooKeeper } = await import(process.argv[1] + "/adapters/zookeeper/client/zookeeper-client.js");
    const { systemClock } = await import(process.argv[1] + "/src/clock.js");
    const acl = [{ permissions: "cdrwa", scheme: "world", id: "anyone" }];
    const options = { servers: [process.argv[2]], chroot: "", sessionTimeout: 10000, connectTimeout: 2000, readTimeout: null, tls: null, auth: [], acl };
    const zk = await connectZooKeeper(options, systemClock, new AbortController().signal);
    await zk.watch("data", "/", new AbortController().signal).armed;
    zk.exists("/", new AbortController().signal).catch(() => {});
    if (process.argv[3] === "close") await zk.close(new AbortController().signal);
    if (process.argv[3] === "destroy") zk.destroy();
    if (process.argv[3] !== "stay") console.log("done");
  `;
  const run = (how: string) => {
    const dist = fileURLToPath(new URL("../../dist", import.meta.url));
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, dist, server, how], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };

  it.each(["close", "destroy"])("ends by itself after %s", async (how) => {
    expect(inject("buildError")).toBe("");
    const child = run(how);
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    expect(await within(exited, PATIENCE, "the process ends by itself")).toEqual([0, null]);
  });

  it("goes on as long as the session does", async () => {
    const child = run("stay");
    await sleep(1500);
    expect(child.exitCode).toBeNull();
  });
});
