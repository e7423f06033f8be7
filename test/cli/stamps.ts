import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** One line that a stamper has written. */
export interface Stamp {
  /** process.hrtime, in ms: all processes of a machine share it. */
  readonly at: number;
  readonly pid: number;
  readonly label: string;
  readonly what: string;
}

/** From the first to the last sign of life of what ran under one label (a term of a candidate). */
export interface Life {
  readonly label: string;
  readonly pids: readonly number[];
  readonly from: number;
  readonly to: number;
}

export const STAMPER = fileURLToPath(new URL("./programs/stamper.mjs", import.meta.url));

/** The file that stampers write to, in a folder of its own. */
export class StampFile {
  readonly #folder = mkdtempSync(join(tmpdir(), "tenure-stamps-"));
  readonly path = join(this.#folder, "stamps");
  readonly #stamps: Stamp[] = [];
  readonly #lives = new Map<string, Life>();
  #offset = 0;
  #rest = "";

  /** The arguments of `node` that start a stamper. */
  command(...options: string[]): string[] {
    return [STAMPER, this.path, ...options];
  }

  read(): readonly Stamp[] {
    const lines = (this.#rest + this.#news()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#add(line);
    return this.#stamps;
  }

  has(what: string, label = ""): boolean {
    return this.read().some((stamp) => stamp.what === what && stamp.label.includes(label));
  }

  /** In the order of their beginnings. Children count to their parents. */
  lives(): Life[] {
    this.read();
    return [...this.#lives.values()].sort((a, b) => a.from - b.from);
  }

  /** Which lives overlap, in words. */
  overlaps(): string[] {
    const found: string[] = [];
    let last: Life | undefined;
    for (const life of this.lives()) {
      if (last && life.from < last.to) {
        found.push(`${life.label} began ${(last.to - life.from).toFixed(1)} ms before the last sign of ${last.label}`);
      }
      if (!last || life.to > last.to) last = life;
    }
    return found;
  }

  /** The processes that wrote here and still run. */
  survivors(): number[] {
    return this.lives().flatMap((life) => life.pids.filter(alive));
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What has been appended since the last call. */
  #news(): string {
    let file: number;
    try {
      file = openSync(this.path, "r");
    } catch {
      return "";
    }
    try {
      const buffer = Buffer.alloc(Math.max(0, fstatSync(file).size - this.#offset));
      const length = readSync(file, buffer, 0, buffer.length, this.#offset);
      this.#offset += length;
      return buffer.toString("latin1", 0, length);
    } finally {
      closeSync(file);
    }
  }

  #add(line: string): void {
    const [time, process_, label, what] = line.split(" ") as [string, string, string, string];
    const at = Number(BigInt(time)) / 1e6;
    const pid = Number(process_);
    this.#stamps.push({ at, pid, label, what });
    const root = label.replace(/(\/child)+$/, "");
    const life = this.#lives.get(root) ?? { label: root, pids: [], from: at, to: at };
    const pids = life.pids.includes(pid) ? life.pids : [...life.pids, pid];
    this.#lives.set(root, { label: root, pids, from: Math.min(life.from, at), to: Math.max(life.to, at) });
  }
}

export function hrtimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Whether a process runs (a zombie does not). */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\S+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
