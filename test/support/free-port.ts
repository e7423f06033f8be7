import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = join(tmpdir(), "tenure-test-ports");
const mine = new Set<number>();

/**
 * A loopback port that no one listens on, kept for this process until it ends. Not one that the kernel would pick: those are
 * also given to outgoing connections, so that a server which is stopped and started again might find its port taken (or a client
 * that tries it be connected to itself). Between processes a file per port reserves it.
 */
export async function freePort(): Promise<number> {
  mkdirSync(folder, { recursive: true });
  for (let tries = 0; tries < 200; tries++) {
    const port = 11_000 + Math.floor(Math.random() * 20_000);
    if (!reserve(port)) continue;
    if (await isFree(port)) return port;
    release(port);
  }
  throw new Error("no free port between 11000 and 31000 on 127.0.0.1");
}

function reserve(port: number): boolean {
  const file = join(folder, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
  } catch {
    if (isAlive(file)) return false;
    // Two that find the same dead owner may both take the file; the listener that comes second fails, and tries another port.
    writeFileSync(file, String(process.pid));
  }
  if (mine.size === 0) process.once("exit", () => mine.forEach(release));
  mine.add(port);
  return true;
}

function release(port: number): void {
  mine.delete(port);
  rmSync(join(folder, String(port)), { force: true });
}

function isAlive(file: string): boolean {
  try {
    const owner = Number(readFileSync(file, "utf8"));
    if (owner > 0) process.kill(owner, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
