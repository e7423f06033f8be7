import { readFileSync, statSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { fresh } from "../support/names.js";
import { connectRaw } from "../support/raw-session.js";
import { until } from "../support/wait-for.js";
import { stamped } from "./fake-wrapper.js";
import { StampFile } from "./stamps.js";
import { disposeAll, Tenure, type TenureOptions } from "./tenure.js";

const ELECTION = "jobs";
/** Of the sessions, ms. */
const TIMEOUT = 10_000;
let file: StampFile;
let root: string;

const store = () => `zookeeper://${inject("zookeeper")}?root=/${root}&sessionTimeout=${TIMEOUT}ms&tickTime=500ms`;

function run(id: string, flags: readonly string[], command: readonly string[], options: TenureOptions = {}): Tenure {
  return new Tenure(["run", "--store", store(), "--election", ELECTION, "--id", id, ...flags, "--", ...command], options);
}

function stamper(id: string, flags: readonly string[] = [], ...options: string[]): Tenure {
  return run(id, flags, [process.execPath, ...file.command(...options)]);
}

/** Milliseconds since the machine was started. */
const uptime = () => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000;

/** When the machine was started, by the wall clock: from readings of both clocks between which it did not pause. */
function bootedAt(): number {
  for (;;) {
    const [before, wall, after] = [uptime(), Date.now(), uptime()];
    if (after - before <= 10) return wall - after;
  }
}

const running = (id: string) => stamped(file, "beat", `${id}/`);

beforeEach(() => {
  expect(inject("buildError")).toBe("");
  file = new StampFile();
  root = fresh("cli");
});
afterEach(async () => {
  await disposeAll();
  await until(() => file.survivors().length === 0, { what: "the end of every command" });
  file.dispose();
});

describe("tenure run", () => {
  it("tells the command about its term, and exits with its status", async () => {
    const begun = { wall: Date.now(), boot: uptime() };
    const script = `env; echo; cat "$TENURE_STATUS_FILE"; echo; echo "$TENURE_STATUS_FILE"; exit 5`;
    const tenure = run("a", ["--metadata", "zone=eu", "--metadata", "rack=7=8"], ["sh", "-c", script]);
    expect(await tenure.exit()).toBe(5);
    const [env = "", status = "", path = ""] = tenure.stdout.trim().split("\n\n");
    const { number, fence, deadline, deadlineBoot, pid } = JSON.parse(status);
    const variables = Object.fromEntries(env.split("\n").map((line) => line.split("=")));
    expect(variables).toMatchObject({
      TENURE_ELECTION: ELECTION,
      TENURE_CANDIDATE: "a",
      TENURE_TERM: String(number),
      TENURE_FENCE: fence,
      TENURE_STATUS_FILE: path,
    });
    expect(fence).toMatch(/^\d+$/);
    expect(pid).toBe(tenure.pid);
    for (const [at, from, to] of [
      [Date.parse(deadline), begun.wall, Date.now()],
      [deadlineBoot * 1000, begun.boot, uptime()],
    ] as const) {
      expect(at).toBeGreaterThan(from);
      expect(at).toBeLessThan(to + TIMEOUT);
    }
    // Both say the same.
    expect(Math.abs(Date.parse(deadline) - deadlineBoot * 1000 - bootedAt())).toBeLessThan(50);
    expect(() => statSync(path)).toThrow("ENOENT");
  });

  it("keeps the status file up to date, in a folder that only its user can enter", async () => {
    const tenure = run("a", [], ["sh", "-c", `echo "$TENURE_STATUS_FILE"; exec sleep 60`]);
    const path = await until(() => tenure.stdout.trim(), { what: "the path" });
    const read = () => JSON.parse(readFileSync(path, "utf8"));
    const first = read();
    const second = await until(() => read().deadline !== first.deadline && read(), { what: "a later deadline" });
    expect(new Date(second.deadline).getTime()).toBeGreaterThan(new Date(first.deadline).getTime());
    expect({ ...second, deadline: 0, deadlineBoot: 0 }).toEqual({ ...first, deadline: 0, deadlineBoot: 0 });
    expect(statSync(path.replace(/\/[^/]+$/, "")).mode & 0o777).toBe(0o700);
    tenure.kill("SIGTERM");
    expect(await tenure.exit()).toBe(143);
    expect(() => statSync(path)).toThrow("ENOENT");
  });

  it("passes stdin through, and leaves the pipes that it shares with the command blocking", async () => {
    const tenure = run("a", [], ["sh", "-c", "cat; grep flags /proc/self/fdinfo/0 /proc/self/fdinfo/1 /proc/self/fdinfo/2 >&2"], {
      input: "hello",
    });
    expect(await tenure.exit()).toBe(0);
    expect(tenure.stdout).toBe("hello");
    const flags = [...tenure.stderr.matchAll(/fdinfo\/(\d):flags:\s+(\d+)/g)].map(
      ([, fd, octal = ""]) => `${fd} ${Number.parseInt(octal, 8) & 0o4000}`,
    );
    expect(flags).toEqual(["0 0", "1 0", "2 0"]);
  });

  it("runs the command on one of several; the next takes over when it is told to stop", async () => {
    const first = stamper("a", [], "term=200");
    await running("a");
    const second = stamper("b");
    await second.logged("standing by");
    first.kill("SIGTERM");
    expect(await first.exit()).toBe(0);
    await running("b");
    expect(file.has("end", "a/")).toBe(true);
    expect(file.overlaps()).toEqual([]);
    second.kill("SIGINT");
    expect(await second.exit()).toBe(0);
    expect(file.has("SIGINT", "b/")).toBe(true);
    expect(file.has("SIGTERM", "b/")).toBe(false);
  });

  it("kills a command that does not end within --drain, and only then hands over", async () => {
    const first = stamper("a", ["--drain", "3s"], "term=ignore");
    await running("a");
    const second = stamper("b");
    await second.logged("standing by");
    first.kill("SIGTERM");
    expect(await first.exit()).toBe(137);
    await running("b");
    expect(file.has("SIGTERM", "a/")).toBe(true);
    expect(file.overlaps()).toEqual([]);
  });

  it("kills at once at a second SIGTERM", async () => {
    const tenure = stamper("a", ["--drain", "60s"], "term=ignore");
    await running("a");
    tenure.kill("SIGTERM");
    await stamped(file, "SIGTERM");
    tenure.kill("SIGTERM");
    expect(await tenure.exit()).toBe(137);
  });

  it("sends HUP, QUIT, USR1 and USR2 on; while standing by it ignores them and exits 128+n at SIGTERM", async () => {
    const leader = stamper("a");
    await running("a");
    const standby = stamper("b", ["--log-level", "debug"]);
    await standby.logged("standing by");
    for (const signal of ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const) {
      leader.kill(signal);
      standby.kill(signal);
      await stamped(file, signal, "a/");
      await standby.logged(`${signal} ignored`);
    }
    standby.kill("SIGTERM");
    expect(await standby.exit()).toBe(143);
    expect(leader.ended).toBe(false);
  });

  it("--try exits 75 when another one leads, and runs when nobody does", async () => {
    const leader = stamper("a", ["--try"]);
    await running("a");
    const other = run("b", ["--try"], ["true"]);
    expect(await other.exit()).toBe(75);
    expect(other.stderr).toContain("another one stands before us");
    expect(leader.ended).toBe(false);
  });

  it("--timeout exits 75 when not elected within it, and does not end a term", async () => {
    const leader = stamper("a", ["--timeout", "5s"]);
    await running("a");
    const other = run("b", ["--timeout", "5s"], ["true"]);
    expect(await other.exit()).toBe(75);
    await until(() => (file.lives()[0]?.to ?? 0) - (file.lives()[0]?.from ?? 0) > 5500, { what: "the command runs on" });
    expect(leader.ended).toBe(false);
  });

  it("--restart hands over when the command ends by itself, and stands again", async () => {
    const first = stamper("a", ["--restart"], "usr1=1");
    await running("a");
    const second = stamper("b", ["--restart"], "usr1=0");
    await second.logged("standing by");
    const terms = () => file.lives().map(({ label }) => label[0]);
    first.kill("SIGUSR1");
    await running("b");
    await first.logged("standing by");
    second.kill("SIGUSR1");
    await until(() => terms().length === 3, { what: "a third term" });
    expect(terms()).toEqual(["a", "b", "a"]);
    expect(file.overlaps()).toEqual([]);
    first.kill("SIGTERM");
    second.kill("SIGTERM");
    for (const code of [await first.exit(), await second.exit()]) expect([0, 143]).toContain(code);
  });

  it("an evicted leader kills its command and stands again; with --exit-on-loss it exits 74", async () => {
    const raw = await connectRaw(inject("zookeeper"));
    try {
      const evict = async () => {
        const path = `/${root}/${ELECTION}/candidates`;
        for (const child of await raw.children(path)) await raw.delete(`${path}/${child}`);
      };
      const tenure = stamper("a", [], "term=ignore");
      await running("a");
      await evict();
      await tenure.logged("lost term");
      await until(() => file.lives().length === 2, { what: "a second term" });
      expect(file.overlaps()).toEqual([]);
      await tenure.dispose();
      await until(() => file.survivors().length === 0, { what: "the end of the command" });
      const leaver = stamper("b", ["--exit-on-loss"]);
      await running("b");
      await evict();
      expect(await leaver.exit()).toBe(74);
    } finally {
      await raw.close();
    }
  });

  it("stands again when the keeper dies", async () => {
    const tenure = stamper("a", [], "term=ignore", "child=group");
    await running("a");
    await stamped(file, "beat", "/child");
    process.kill(tenure.keeper as number, "SIGKILL");
    await tenure.logged("the keeper died");
    await until(() => file.lives().length === 2, { what: "a second term" });
    expect(file.overlaps()).toEqual([]);
  });
});
