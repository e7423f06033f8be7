import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PATIENCE, until } from "../support/wait-for.js";
import { childrenOf } from "./fake-wrapper.js";
import { alive } from "./stamps.js";

export const MAIN = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

export interface TenureOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its stdin, which is closed then. Default: /dev/null. */
  readonly input?: string;
}

/** One line of the log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

const started = new Set<Tenure>();

/** The command line as a user runs it. */
export class Tenure {
  readonly process: ChildProcess;
  stdout = "";
  stderr = "";
  #code: number | null = null;
  #ended = false;

  constructor(args: readonly string[], options: TenureOptions = {}) {
    if (!existsSync(MAIN)) throw new Error("dist/ is missing: npm run build");
    this.process = spawn(process.execPath, [MAIN, ...args], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
      stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    if (options.input !== undefined) this.process.stdin?.end(options.input);
    this.process.stdout?.setEncoding("utf8").on("data", (chunk) => {
      this.stdout += chunk;
    });
    this.process.stderr?.setEncoding("utf8").on("data", (chunk) => {
      this.stderr += chunk;
    });
    // Not "close": a command that outlives its wrapper would hold the pipes.
    this.process.on("exit", (code, signal) => {
      this.#code = code;
      this.#ended = true;
      this.signal = signal;
    });
    started.add(this);
  }

  signal: NodeJS.Signals | null = null;

  get pid(): number {
    return this.process.pid as number;
  }

  get ended(): boolean {
    return this.#ended;
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** Waits for the end; the exit code, null if a signal ended it. */
  async exit(timeout = 2 * PATIENCE): Promise<number | null> {
    await until(() => this.#ended, { what: `the end of tenure\n${this.stderr}`, timeout });
    return this.#code;
  }

  get logs(): LogLine[] {
    return this.stderr
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  }

  /** Waits for a line of the log that contains `text`. */
  logged(text: string): Promise<LogLine> {
    return until(() => this.logs.find(({ msg }) => msg.includes(text)), { what: `"${text}" in the log` });
  }

  /** Undefined while no command runs. */
  get keeper(): number | undefined {
    return childrenOf(this.pid)[0];
  }

  /** Kills it if it still runs, and waits until nothing of it is left. */
  async dispose(): Promise<void> {
    started.delete(this);
    if (this.#ended) return;
    const { keeper } = this;
    this.kill("SIGKILL");
    await this.exit();
    if (keeper !== undefined) await until(() => !alive(keeper), { what: "the end of the keeper" });
  }
}

/** Disposes of everything that was started. */
export async function disposeAll(): Promise<void> {
  await Promise.all([...started].map((tenure) => tenure.dispose()));
}
