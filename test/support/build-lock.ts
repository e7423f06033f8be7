import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The holder shows every so often that it is alive, ms. */
const BEAT = 1_000;
/** So long without a sign of life, and the holder is taken for dead, ms. */
const DEAD = 20_000;

/**
 * Runs `build` unless `done` says that there is nothing to do; of several processes (also in containers that share the cache
 * folder, so no process ids) one at a time. `file` is the lock. Two that find the same dead holder may both build: whatever is
 * built must be put in its place by a rename.
 */
export async function buildOnce(file: string, done: () => boolean, waiting: () => void, build: () => Promise<void>): Promise<void> {
  for (let said = false; !done(); said = true) {
    if (take(file)) {
      const beat = setInterval(() => show(file), BEAT);
      beat.unref();
      try {
        if (!done()) await build();
        return;
      } finally {
        clearInterval(beat);
        rmSync(file, { force: true });
      }
    }
    if (!said) waiting();
    await sleep(200);
  }
}

function take(file: string): boolean {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (age > DEAD) rmSync(file, { force: true });
  return false;
}

function show(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Somebody took us for dead and removed it.
  }
}
