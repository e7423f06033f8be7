import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What it takes to start a program that speaks the bench's protocol. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/**
 * A program in a process of its own. Protocol: a line with a command and its arguments on its stdin; one line on its stdout
 * answers it, `ok` and the results, or `failed` and why.
 */
export class Peer {
  readonly name: string;
  readonly #process: ChildProcess;
  readonly #waiting: Waiting[] = [];
  #errors = "";

  constructor(name: string, { command, args }: Command) {
    this.name = name;
    this.#process = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    alive.add(this.#process);
    this.#process.stderr?.on("data", (chunk) => {
      process.stderr.write(chunk);
      this.#errors = (this.#errors + chunk).slice(-4000);
    });
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const waiting = this.#waiting.shift();
      clearTimeout(waiting?.timer);
      waiting?.resolve(line);
    });
    const ended = (why: string) => {
      alive.delete(this.#process);
      for (const { reject, timer } of this.#waiting.splice(0)) {
        clearTimeout(timer);
        reject(new Error(`${name} ${why}\n${this.#errors}`));
      }
    };
    this.#process.once("exit", (code, signal) => ended(`ended (${code ?? signal})`));
    this.#process.once("error", (error) => ended(`did not start: ${error.message}`));
    this.#process.stdin?.on("error", () => {});
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** Resolves to the words after `ok`. */
  async ask(command: string, ...words: (string | number)[]): Promise<string[]> {
    const line = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${this.name}: no answer to "${command}" in ten minutes\n${this.#errors}`)), 600_000);
      this.#waiting.push({ resolve, reject, timer });
      this.#process.stdin?.write(`${[command, ...words].join(" ")}\n`);
    });
    const [verdict, ...rest] = line.split(" ");
    if (verdict !== "ok") throw new Error(`${this.name}: ${command}: ${line}\n${this.#errors}`);
    return rest;
  }

  /** As ask, for an answer of numbers. */
  async numbers(command: string, ...words: (string | number)[]): Promise<number[]> {
    return (await this.ask(command, ...words)).map(Number);
  }

  /** kill -9. Resolves when it has ended. */
  async kill(): Promise<void> {
    if (!alive.has(this.#process)) return;
    const exited = new Promise<void>((resolve) => this.#process.once("exit", () => resolve()));
    this.#process.kill("SIGKILL");
    await exited;
  }

  /** Ends the program; politely first, so that it can write its profile. */
  async quit(): Promise<void> {
    if (!alive.has(this.#process)) return;
    const exited = new Promise<void>((resolve) => this.#process.once("exit", () => resolve()));
    this.#process.stdin?.end("quit\n");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 10_000);
    await exited;
    clearTimeout(timer);
  }
}
