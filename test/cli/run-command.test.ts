import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFailed } from "vitest";
import { KILL_MARGIN } from "../../src/cli/machine-time.js";
import { PATIENCE, until } from "../support/wait-for.js";
import { FakeWrapper, stamped, type WrapperOptions } from "./fake-wrapper.js";
import { alive, hrtimeMs, StampFile } from "./stamps.js";

/** Of a term, ms: its deadline is that far away at first, and at least four fifths of it while it is renewed. */
const TTL = 5000;
/** Of a term whose deadline is not to come in a test, ms. */
const LASTING = 4 * PATIENCE;

let file: StampFile;
let wrapper: FakeWrapper | undefined;

function run(options: WrapperOptions): FakeWrapper {
  const fake = new FakeWrapper(options);
  onTestFailed(() => console.error(fake.logs.join("\n")));
  wrapper = fake;
  return fake;
}

const gone = () => until(() => file.survivors().length === 0, { what: "the end of every process" });
const lastSign = () => Math.max(0, ...file.read().map((stamp) => stamp.at));

/** For how long the machine stood still near `deadline`, ms: as far as two stamps, which come every 10 ms, are apart there. */
function stall(deadline: number): number {
  const times = file
    .read()
    .map(({ at }) => at)
    .sort((a, b) => a - b);
  const gaps = times.slice(1).map((at, index) => (at > deadline - KILL_MARGIN ? at - (times[index] as number) : 0));
  return Math.max(0, ...gaps);
}

beforeEach(() => {
  file = new StampFile();
});
afterEach(async () => {
  wrapper?.dispose();
  await gone();
  file.dispose();
});

describe("a command of a term", () => {
  it("ends with its own status", async () => {
    const { because, status } = await run({ args: file.command("exit=50:7") }).ended();
    expect({ because, status }).toEqual({ because: "itself", status: 7 });
  });

  it("has 128+n as its status when it dies of a signal", async () => {
    const end = await run({ file: "sh", args: ["-c", "kill -USR1 $$"] }).ended();
    expect(end).toEqual({ because: "itself", status: 138 });
  });

  it("has status 127 when it is not found, and says so", async () => {
    const fake = run({ file: "no-such-command", args: [] });
    expect(await fake.ended()).toEqual({ because: "itself", status: 127 });
    expect(fake.logs.join()).toContain("no-such-command: ENOENT");
  });

  it("runs in a process group of its own and inherits no pipe of ours", async () => {
    const script = `ls /proc/self/fd | tr '\\n' ' '; ps -o pgid= -p $$`;
    const fake = run({ file: "sh", args: ["-c", `(${script}) > "$0"`, file.path] });
    expect(await fake.ended()).toMatchObject({ status: 0 });
    const [descriptors, group] = readFileSync(file.path, "utf8").split(/ (?=\s*\d+\n)/);
    // 3 is the folder that ls itself reads.
    expect(descriptors?.split(" ").filter((each) => Number(each) <= 9)).toEqual(["0", "1", "2", "3"]);
    expect(Number(group)).not.toBe(fake.pid);
    writeFileSync(file.path, "");
  });

  it("gets TERM when the term drains, and may take its time", async () => {
    const fake = run({ args: file.command("term=300", "status=3") });
    await stamped(file, "beat");
    await fake.order("drain");
    expect(await fake.ended()).toEqual({ because: "told", status: 3 });
    expect(file.has("SIGTERM")).toBe(true);
    expect(file.has("end")).toBe(true);
  });

  it("is killed when it does not end within the drain", async () => {
    const fake = run({ args: file.command("term=ignore"), drain: 3000 });
    await stamped(file, "beat");
    await fake.order("drain");
    expect(await fake.ended()).toEqual({ because: "told", status: 137 });
    expect(file.survivors()).toEqual([]);
    expect(file.has("SIGTERM")).toBe(true);
  });

  it("is killed at once when the term is over", async () => {
    const fake = run({ ttl: LASTING, args: file.command("term=ignore") });
    await stamped(file, "beat");
    await fake.order("lose");
    expect(await fake.ended()).toEqual({ because: "told", status: 137 });
  });

  it("is killed KILL_MARGIN before a deadline that is not renewed", async () => {
    const fake = run({ ttl: TTL, args: file.command("term=ignore") });
    await stamped(file, "beat");
    await fake.order("starve");
    await fake.ended();
    expect(lastSign()).toBeLessThan(fake.deadline + stall(fake.deadline));
    // Not much too early either: whoever kills it is fed each deadline a little after it is known.
    expect(fake.endedAt).toBeGreaterThan(fake.deadline - KILL_MARGIN - TTL / 2);
  });

  it("runs past its first deadlines while they are renewed", async () => {
    const fake = run({ ttl: TTL, args: file.command(`exit=${1.5 * TTL}:0`) });
    expect(await fake.ended()).toEqual({ because: "itself", status: 0 });
  });

  it("is sent signals on, and a second order to end kills it", async () => {
    const fake = run({ args: file.command("term=ignore") });
    await stamped(file, "beat");
    for (const signal of ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) {
      await fake.order(signal);
      await stamped(file, signal);
    }
    await fake.order("terminate");
    await stamped(file, "SIGTERM");
    await fake.order("kill");
    expect(await fake.ended()).toEqual({ because: "told", status: 137 });
  });

  it("is not started when the term is over already", async () => {
    const fake = run({ ttl: KILL_MARGIN - 10, args: file.command() });
    await fake.order("starve");
    expect(await fake.ended()).toEqual({ because: "not-started", status: null });
    expect(file.read()).toEqual([]);
  });
});

describe("whoever dies or stops, the command does not outlive its term", () => {
  it("kill -9 of the wrapper kills it at once, with its children, and removes the private folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
    writeFileSync(join(folder, "status.json"), "{}");
    const fake = run({ ttl: LASTING, args: file.command("term=ignore", "child=group"), folder });
    await stamped(file, "beat", "/child");
    fake.process.kill("SIGKILL");
    await gone();
    await until(() => !existsSync(folder), { what: "the folder goes" });
  });

  it("kill -9 of the wrapper just after the keeper was started leaves nothing", async () => {
    for (const delay of [0, 20, 40, 60, 80, 100, 120, 150]) {
      const fake = run({ args: file.command("term=ignore") });
      const keeper = await fake.keeper();
      await pause(delay);
      fake.process.kill("SIGKILL");
      await until(() => !alive(keeper), { what: "the keeper's end" });
      await gone();
    }
  });

  it("SIGSTOP of the wrapper: the keeper kills it KILL_MARGIN before the deadline", async () => {
    const fake = run({ ttl: TTL, args: file.command("term=ignore", "child=group") });
    await stamped(file, "beat", "/child");
    await fake.order("starve");
    const stopped = hrtimeMs();
    fake.process.kill("SIGSTOP");
    await gone();
    expect(lastSign()).toBeLessThan(fake.deadline + stall(fake.deadline));
    expect(lastSign()).toBeGreaterThan(stopped);
    fake.process.kill("SIGCONT");
    expect(await fake.ended()).toEqual({ because: "told", status: 137 });
  });

  it("SIGSTOP of the keeper: the wrapper kills it KILL_MARGIN before the deadline", async () => {
    const fake = run({ ttl: TTL, args: file.command("term=ignore") });
    await stamped(file, "beat");
    process.kill(await fake.keeper(), "SIGSTOP");
    await fake.order("starve");
    await fake.ended();
    expect(lastSign()).toBeLessThan(fake.deadline + stall(fake.deadline));
    expect(file.survivors()).toEqual([]);
  });

  it("a keeper stopped before it started the command is killed with the term", async () => {
    const fake = run({ ttl: 2000, args: file.command("term=ignore") });
    process.kill(await fake.keeper(), "SIGSTOP");
    await fake.order("starve");
    await fake.ended();
    // On a loaded machine the STOP may come after the start: then the deadline counts.
    expect(lastSign()).toBeLessThan(fake.deadline + stall(fake.deadline));
    expect(file.survivors()).toEqual([]);
  });

  it("kill -9 of the keeper: the wrapper kills the group before it reports the end", async () => {
    const fake = run({ args: file.command("term=ignore", "child=group") });
    await stamped(file, "beat", "/child");
    process.kill(await fake.keeper(), "SIGKILL");
    const end = await fake.ended();
    expect(file.survivors()).toEqual([]);
    expect(end).toEqual({ because: "keeper", status: 137 });
    expect(fake.logs.join()).toContain("the keeper died");
  });

  it("signals that end other programs do not end the keeper", async () => {
    const fake = run({ args: file.command("term=ignore") });
    await stamped(file, "beat");
    const keeper = await fake.keeper();
    for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"] as const) process.kill(keeper, signal);
    await fake.order("SIGUSR2");
    await stamped(file, "SIGUSR2");
    expect(alive(keeper)).toBe(true);
  });
});

describe("what a command leaves behind", () => {
  it("is told to end, then killed, before the end is reported", async () => {
    const fake = run({ args: file.command("usr1=5", "child=group") });
    await stamped(file, "beat", "/child");
    await fake.order("SIGUSR1");
    expect(await fake.ended()).toEqual({ because: "itself", status: 5 });
    expect(file.survivors()).toEqual([]);
    expect(file.has("SIGTERM", "/child")).toBe(true);
  });

  it("may take its time after TERM when the first process ends at once", async () => {
    const fake = run({ args: file.command("term=0", "child=group", "childTerm=500") });
    await stamped(file, "beat", "/child");
    await fake.order("drain");
    expect(await fake.ended()).toEqual({ because: "told", status: 0 });
    expect(file.has("end", "/child")).toBe(true);
  });

  it("is killed also in process groups that it made for itself in the same session", async () => {
    const fake = run({ args: file.command("term=ignore", "child=pgid") });
    await stamped(file, "beat", "/child");
    await fake.order("lose");
    await fake.ended();
    expect(file.survivors()).toEqual([]);
  });

  it("the same after kill -9 of the wrapper", async () => {
    const fake = run({ args: file.command("term=ignore", "child=pgid") });
    await stamped(file, "beat", "/child");
    fake.process.kill("SIGKILL");
    await gone();
  });
});
