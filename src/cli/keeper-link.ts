import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { type CommandLine, type FromKeeper, KEEPER_FD, readLines, type ToKeeper } from "./keeper-protocol.js";
import type { MachineInstant } from "./machine-time.js";

/** What becomes of a keeper. */
export interface KeeperEvents {
  onReport(line: FromKeeper): void;
  /** It has been reaped. Reports that it wrote before may still follow. */
  onDeath(): void;
  /** After its death and its last report; or it could not be started, then with the error. Called once, last. */
  onGone(error: Error | null): void;
}

/** A running keeper, seen from the wrapper. */
export interface KeeperLink {
  /** The process group of the keeper and, later, of the command; null when the keeper could not be started. */
  readonly group: number | null;
  /** Tells the keeper until when the command may run. */
  feed(deadline: MachineInstant): void;
  /** Lets it start the command, if `deadline` has not come by its own clock. */
  run(command: CommandLine, deadline: MachineInstant): void;
}

const KEEPER = fileURLToPath(new URL("./keeper.js", import.meta.url));

/** Starts a keeper; `title` is for those who read the list of processes. It runs nothing until it is told to. */
export function startKeeper(title: string, events: KeeperEvents): KeeperLink {
  const child = spawn(process.execPath, [KEEPER, title], {
    // A session of its own: no signal of the terminal reaches it, nor one that is sent to the group of the wrapper.
    detached: true,
    env: keeperEnvironment(),
    stdio: ["inherit", "inherit", "inherit", "pipe"],
  });
  const pipe = (child.stdio?.[KEEPER_FD] ?? null) as Duplex | null;
  report(child, pipe, events);
  const send = (line: ToKeeper) => {
    if (pipe?.writable) pipe.write(`${JSON.stringify(line)}\n`);
  };
  return {
    group: child.pid ?? null,
    feed: (deadline) => send({ deadline }),
    run: (command, deadline) => send({ deadline, run: command }),
  };
}

/** NODE_OPTIONS and the like are meant for the command; it gets its environment over the pipe. */
function keeperEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE|TENURE)_/.test(name)));
}

function report(child: ChildProcess, pipe: Duplex | null, events: KeeperEvents): void {
  // A broken pipe says no more than the end of the process, which follows.
  pipe?.on("error", () => {});
  if (pipe) readLines(pipe, (line) => events.onReport(line as FromKeeper));
  child.on("exit", () => events.onDeath());
  child.on("error", (error) => {
    if (child.pid === undefined) events.onGone(error);
  });
  child.on("close", () => {
    if (child.pid !== undefined) events.onGone(null);
  });
}
