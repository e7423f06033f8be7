import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** A JVM that does not outlive this process. */
export interface JavaProcess {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly exited: Promise<void>;
  running(): boolean;
}

const alive = new Map<number, ChildProcess>();

/**
 * Starts `java` with both outputs appended to the file `log`. It is killed when this process ends, in whatever way: by an exit
 * handler, and by a shell that waits for the end of a pipe that we hold, which also works when we are killed.
 */
export async function spawnJava(java: string, args: readonly string[], cwd: string, log: string): Promise<JavaProcess> {
  const out = openSync(log, "a");
  const child = spawn(java, args, { cwd, detached: true, stdio: ["ignore", out, out] });
  closeSync(out);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const pid = child.pid as number;
  const keeper = spawn("/bin/sh", ["-c", `read _; kill -9 ${pid} 2>/dev/null`], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
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
  for (const child of alive.values()) child.kill("SIGKILL");
}
