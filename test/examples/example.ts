import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { until } from "../support/wait-for.js";

const ROOT = process.cwd();

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/**
 * An example, copied to a folder of its own, with links where `npm install` would put what its package.json names: nothing but the
 * built package and the packages that the tests have anyway, in the versions that it names.
 */
export class Example {
  readonly folder: string;
  readonly #started = new Set<Program>();

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `tenure-example-${name}-`));
    cpSync(join(ROOT, "examples", name), this.folder, { recursive: true, filter: (path) => !/\/(node_modules|dist)$/.test(path) });
    const { dependencies, devDependencies } = manifestIn(this.folder);
    const here = manifestIn(ROOT).devDependencies;
    for (const [dependency, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      const own = dependency === "tenure";
      if (version !== (own ? "file:../.." : here[dependency]))
        throw new Error(`${name} names ${dependency} ${version}, the tests have ${here[dependency]}`);
      this.#link(own ? ROOT : join(ROOT, "node_modules", dependency), dependency);
    }
    this.#link(join(ROOT, "node_modules", ".bin", "tsc"), ".bin/tsc");
  }

  /** As a user does it: this checks the types too. */
  async build(): Promise<void> {
    if (inject("buildError")) throw new Error(inject("buildError"));
    await promisify(execFile)("npm", ["run", "build", "--silent"], { cwd: this.folder }).catch(({ stdout, message }) => {
      throw new Error(`${message}\n${stdout}`);
    });
  }

  /** What `npm start` runs, without npm in between. */
  start(id: string, env: Readonly<Record<string, string>>): Program {
    const [node, ...args] = (manifestIn(this.folder).scripts.start as string).split(" ");
    if (node !== "node") throw new Error("npm start is not a program of Node");
    const program = new Program(
      spawn(process.execPath, args, { cwd: this.folder, env: { PATH: process.env.PATH, NO_COLOR: "1", ID: id, ...env } }),
    );
    this.#started.add(program);
    return program;
  }

  /** Two processes of it that keep their elections at `root`: the first leads, the second waits. */
  async startTwo(root: string): Promise<[a: Program, b: Program]> {
    const env = { ZOOKEEPER: `zookeeper://${inject("zookeeper")}?root=/${root}&sessionTimeout=6s&tickTime=500ms` };
    const a = this.start("a", env);
    await a.wrote(/a: leading/);
    const b = this.start("b", env);
    await b.wrote(/b: standby/);
    return [a, b];
  }

  /** Ends all programs, and waits for that. */
  async stopAll(): Promise<void> {
    for (const program of this.#started) program.kill("SIGKILL");
    await Promise.all([...this.#started].map((program) => program.ended()));
    this.#started.clear();
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #link(target: string, name: string): void {
    const path = join(this.folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  }
}

/** A line that a program has written. */
export interface Line {
  readonly text: string;
}

export class Program {
  readonly lines: Line[] = [];
  readonly #process: ChildProcess;
  #exit: { code: number | null; signal: NodeJS.Signals | null } | null = null;

  constructor(child: ChildProcess) {
    this.#process = child;
    child.on("close", (code, signal) => {
      this.#exit = { code, signal };
    });
    for (const stream of [child.stdout, child.stderr]) {
      let rest = "";
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        const texts = (rest + chunk).split("\n");
        rest = texts.pop() ?? "";
        this.lines.push(...texts.map((text) => ({ text })));
      });
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return until(() => this.#exit, { what: `the end of the program\n${this.#shown()}` });
  }

  /** The next line that matches, after the first `from` lines. */
  async wrote(pattern: RegExp, from = 0): Promise<Line & { readonly match: RegExpExecArray }> {
    const find = () => {
      for (const line of this.lines.slice(from)) {
        const match = pattern.exec(line.text);
        if (match) return { ...line, match };
      }
      return null;
    };
    return until(find, { what: `a line like ${pattern}` }).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.#shown()}`);
    });
  }

  #shown(): string {
    return this.lines.map(({ text }) => text).join("\n");
  }
}

/** Of a line "… fence 123". */
export const fenceOf = ({ text }: Line): bigint => BigInt(/fence (\d+)/.exec(text)?.[1] as string);

/** Of a line that begins with its time: ms of the clock that all processes of a machine share. */
export const timeOf = (line: Line | undefined): number => Date.parse(line?.text.split(" ")[0] as string);
