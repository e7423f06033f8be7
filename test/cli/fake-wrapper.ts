import { type ChildProcess, fork } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CommandEnd } from "../../src/cli/run-command.js";
import { until } from "../support/wait-for.js";
import type { StampFile } from "./stamps.js";

const PROGRAM = fileURLToPath(new URL("./programs/fake-wrapper.mjs", import.meta.url));

export interface WrapperOptions {
  /** Of the term, in ms; renewed every fifth of it until it is starved. Default 5000. */
  readonly ttl?: number;
  /** Default 10 000. */
  readonly drain?: number;
  readonly file?: string;
  readonly args: readonly string[];
  readonly folder?: string;
}

/** A process that runs one command for one term, without a store. */
export class FakeWrapper {
  readonly process: ChildProcess;
  readonly logs: string[] = [];
  end: CommandEnd | null = null;
  /** When the wrapper knew, by hrtime in ms. */
  endedAt = 0;
  /** As of the last order. */
  deadline = 0;

  constructor(options: WrapperOptions) {
    const plain = { ttl: 5000, drain: 10_000, file: process.execPath, ...options };
    this.process = fork(PROGRAM, [JSON.stringify(plain)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.process.on("exit", (code, signal) => this.logs.push(`the wrapper ended: ${code ?? signal}`));
    this.process.on("message", (message: { log?: string; message?: string; end?: CommandEnd; at?: number; deadline?: number }) => {
      if (message.log) this.logs.push(`${message.log}: ${message.message}`);
      if (message.deadline) this.deadline = message.deadline;
      if (message.end) [this.end, this.endedAt] = [message.end, message.at ?? 0];
    });
  }

  get pid(): number {
    return this.process.pid as number;
  }

  /** Waits until the wrapper has done it. */
  async order(what: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const onMessage = (message: { done?: string }) => {
        if (message.done !== what) return;
        this.process.off("message", onMessage);
        resolve();
      };
      this.process.on("message", onMessage);
      this.process.send(what);
    });
  }

  ended(): Promise<CommandEnd> {
    return until(() => this.end, { what: "the command's end" });
  }

  keeper(): Promise<number> {
    // Stopped between fork and exec it would hold up the wrapper's spawn: wait until it is the keeper.
    const isKeeper = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("keeper.js");
    return until(() => childrenOf(this.pid).find(isKeeper), { what: "a keeper" });
  }

  dispose(): void {
    this.process.kill("SIGKILL");
  }
}

/** The processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((each) => each > 1 && parentOf(each) === pid);
}

function parentOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

/** Waits until the stamper's command has stamped `what`. */
export function stamped(file: StampFile, what: string, label = ""): Promise<boolean> {
  return until(() => file.has(what, label), { what: `a stamp ${what} ${label}` });
}
