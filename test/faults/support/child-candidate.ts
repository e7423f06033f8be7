import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ZooKeeperOptions } from "../../../adapters/zookeeper/index.js";
import { until } from "../../support/wait-for.js";

const PROGRAM = fileURLToPath(new URL("./programs/candidate.mjs", import.meta.url));

export interface ChildOptions {
  readonly store: ZooKeeperOptions;
  readonly id: string;
  readonly election?: string;
  /** Milliseconds. */
  readonly drain?: number;
  /** Each term has work that ends when its signal aborts (default), or when it drains, or none. */
  readonly work?: "until-over" | "until-draining" | "none";
}

/** A line that the child has written. */
export interface Line {
  readonly what: string;
  /** `now()` in the child. */
  readonly at: number;
  readonly [detail: string]: unknown;
}

/** A candidate in a process of its own, which uses the built package: it can be stopped, killed, and end by itself. */
export class ChildCandidate {
  readonly lines: Line[] = [];
  readonly id: string;
  /** Resolves to how the process ended: its exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
  readonly #process: ChildProcess;
  #errors = "";

  constructor(options: ChildOptions) {
    this.id = options.id;
    this.#process = spawn(process.execPath, [PROGRAM, JSON.stringify({ election: "seat", work: "until-over", ...options })], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#process.stderr?.on("data", (chunk) => (this.#errors += chunk));
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on("line", (line) =>
      this.lines.push(JSON.parse(line) as Line),
    );
    this.ended = new Promise((resolve) => this.#process.once("exit", (code, signal) => resolve(code ?? (signal as string))));
    running.add(this.#process);
    void this.ended.then(() => running.delete(this.#process));
  }

  /** What it wrote to stderr: nothing, if all is well. */
  get errors(): string {
    return this.#errors;
  }

  /** `stop`, `resign`, or `spin` (asks without pause, or `turns`: in every turn of the event loop, until time has made a jump). */
  order(what: "stop" | "resign" | "spin" | "turns"): void {
    this.#process.send(what, () => {});
  }

  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    this.#process.kill(name);
  }

  /** The next such line after the first `from` lines. */
  async next(what: string, from = 0): Promise<Line> {
    const find = () => this.lines.slice(from).find((line) => line.what === what);
    return until(find, { every: 2, what: `process ${this.id} writes "${what}"` }).catch((error) => this.fail(error));
  }

  /** Throws `error`, with what the child has written. */
  fail(error: Error): never {
    throw new Error(`${error.message}; it wrote: ${this.lines.map(({ what }) => what).join(", ")} ${this.#errors}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }
}

const running = new Set<ChildProcess>();

process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
