/**
 * The keeper: a small program between `tenure run` and its command, so that neither the death nor the stop of `tenure
 * run` leaves the command running. It leads the process group that the command runs in, so whoever kills the group
 * kills the keeper and the command in one step, and `tenure run` knows the group before anything runs in it.
 *
 * It kills the group at the end of the pipe, and KILL_MARGIN before the newest deadline by its own clock; it starts nothing
 * before it has a deadline that lies ahead (test/cli/run-command.test.ts: "kill -9 of the wrapper …", "SIGSTOP of the wrapper").
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { Socket } from "node:net";
import { systemClock, type Timer } from "../clock.js";
import { type CommandLine, type FromKeeper, KEEPER_FD, readLines, type ToKeeper } from "./keeper-protocol.js";
import { KILL_MARGIN, left, type MachineInstant, machineNow } from "./machine-time.js";
import { sweepSession } from "./process-group.js";

/** How often the clocks are looked at: a timer stands still while the machine is suspended. */
const LOOK_EVERY = 100;
/** How often to look, at the end, whether all that was killed has gone: some 2 ms each on a machine of usual size. */
const SWEEPS = 20;

/** What is sent to the group is for the command. (A listener for SIGUSR1 also keeps Node's inspector from starting.) */
const IGNORED: readonly NodeJS.Signals[] = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM"];
for (const signal of IGNORED) process.on(signal, () => {});

let deadline: MachineInstant | null = null;
let order: CommandLine | null = null;
let command: ChildProcess | null = null;
let timer: Timer | null = null;

process.on("uncaughtException", (error) => end(`the keeper failed: ${error.message}`));
const wrapper = new Socket({ fd: KEEPER_FD, readable: true, writable: true });
wrapper.on("error", () => end("the pipe to tenure run broke"));
wrapper.on("close", () => end("tenure run has gone"));
wrapper.on("end", () => end("tenure run has gone"));
readLines(wrapper, (line) => obey(line as ToKeeper));

function obey(line: ToKeeper): void {
  deadline = line.deadline;
  watch();
  if (line.run && !order) start(line.run);
}

function watch(): void {
  timer?.cancel();
  const rest = remaining();
  if (rest <= 0) return end("the deadline has come");
  timer = systemClock.after(Math.min(rest, LOOK_EVERY), watch);
}

function remaining(): number {
  return deadline === null ? 0 : left(deadline, machineNow()) - KILL_MARGIN;
}

function start(run: CommandLine): void {
  order = run;
  // Whoever was stopped for a while between reading the line and this moment must not start anything.
  if (remaining() <= 0) return end("the deadline has come");
  const stdin = run.noInput ? "ignore" : "inherit";
  const child = spawn(run.file, [...run.args], { env: run.env, stdio: [stdin, "inherit", "inherit"] });
  command = child;
  child.on("error", (error: NodeJS.ErrnoException) => {
    if (child.pid !== undefined) return;
    report({ kind: "failed", status: error.code === "ENOENT" ? 127 : 126, message: `${run.file}: ${error.code ?? error.message}` });
  });
  child.on("exit", (code, signal) => report({ kind: "exited", code, signal }));
  if (child.pid !== undefined) report({ kind: "started", pid: child.pid });
}

function report(line: FromKeeper): void {
  if (wrapper.writable) wrapper.write(`${JSON.stringify(line)}\n`);
}

/** Kills the group, this process included: nothing of it can be left. */
function end(why: string): void {
  command?.kill("SIGKILL");
  report({ kind: "killing", why });
  // Groups that members made for themselves. A fork may slip through here, and not through the kill of the group.
  for (let tries = 0; tries < SWEEPS; tries++) {
    if (!sweepSession(process.pid)) continue;
    removeFolder();
    break;
  }
  process.kill(-process.pid, "SIGKILL");
}

function removeFolder(): void {
  try {
    if (order?.folder) rmSync(order.folder, { recursive: true, force: true });
  } catch {
    // It stays behind; the kill matters more.
  }
}
