import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** A program that does not outlive this process. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves when it has ended, to its exit code; null: by a signal. */
  readonly exited: Promise<number | null>;
  running(): boolean;
}

const alive = new Map<number, ChildProcess>();

/**
 * Starts `command` with both outputs appended to the file `log`. It is killed, with all that it has started, when this process
 * ends, in whatever way: by an exit handler, and by a shell that waits for the end of a pipe that we hold, which also works when
 * we are killed.
 */
export async function spawnServer(
  command: string,
  args: readonly string[],
  cwd: string,
  log: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<ServerProcess> {
  const out = openSync(log, "a");
  // Detached it leads a process group, by whose number its children are reached.
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", out, out] });
  closeSync(out);
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const pid = child.pid as number;
  const keeper = spawn("/bin/sh", ["-c", `read _; kill -9 -${pid} 2>/dev/null`], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  keeper.on("error", () => {});
  keeper.unref();
  (keeper.stdin as unknown as { unref(): void }).unref();
  child.unref();
  if (alive.size === 0) process.on("exit", killAll);
  alive.set(pid, child);
  void exited.then(() => {
    alive.delete(pid);
    if (alive.size === 0) process.off("exit", killAll);
    keeper.kill("SIGKILL");
  });
  return { pid, exited, running: () => alive.has(pid) };
}

function killAll(): void {
  for (const pid of alive.keys()) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended; its exit was not yet told.
    }
  }
}
