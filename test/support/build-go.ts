import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildOnce } from "./build-lock.js";
import { spawnServer } from "./child-server.js";

export interface GoProgram {
  /** For people. */
  readonly name: string;
  /** The folder with go.mod and go.sum. */
  readonly source: string;
  /** What to build, as `go build` takes it. */
  readonly main: string;
  /** The file to make; nothing is done if it exists. */
  readonly target: string;
  /** The oldest Go that can build it, for people. */
  readonly go: string;
  /** For people: how long it may take. */
  readonly takes: string;
  /** For people: what to do where it cannot be built. */
  readonly instead: string;
}

/**
 * Builds a program with the Go toolchain, once per machine, by the machine's own Go settings, and gently: tests run beside it.
 * Safe when several processes do it at once. Says on stderr what it does.
 * @throws Error that names what to install.
 */
export async function buildGo(program: GoProgram, env: NodeJS.ProcessEnv): Promise<void> {
  const { name, target } = program;
  const waiting = () => say(`Waiting for another process that builds ${name} (${program.takes}).`);
  await buildOnce(
    `${target}.lock`,
    () => existsSync(target),
    waiting,
    () => build(program, env),
  );
}

async function build({ name, source, main, target, go: oldest, takes, instead }: GoProgram, env: NodeJS.ProcessEnv): Promise<void> {
  const go = await version(env);
  if (go === undefined)
    throw new Error(`${name} is built with the Go toolchain, which is not there: install Go ${oldest} or later. ${instead}`);
  say(`Building ${name} with ${go}, once for this machine, into ${target}: ${takes}.`);
  await mkdir(dirname(target), { recursive: true });
  const temporary = await mkdtemp(join(dirname(target), "installing-"));
  const begun = performance.now();
  const since = () => `${Math.round((performance.now() - begun) / 1000)} s`;
  try {
    const [log, made] = [join(temporary, "log"), join(temporary, "made")];
    const args = ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", made, main];
    const compiler = await spawnServer("go", args, source, log, { ...env, CGO_ENABLED: "0", GOWORK: "off" });
    setPriority(compiler.pid, 10);
    const ended = new AbortController();
    void tell(ended.signal, () => say(`Still building ${name} (${since()}).`));
    const code = await compiler.exited;
    ended.abort();
    if (code !== 0) {
      const why = readFileSync(log, "utf8").trim().split("\n").slice(-8).join("\n");
      throw new Error(
        `${name} could not be built: \`go build\` in ${source} failed (${go}; it takes Go ${oldest} or later):\n${why}\n${instead}`,
      );
    }
    await rename(made, target);
    say(`${name} is built (${since()}).`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Each minute, that nobody takes it for stuck. */
async function tell(signal: AbortSignal, what: () => void): Promise<void> {
  for (;;) {
    const over = await sleep(60_000, false, { signal, ref: false }).catch(() => true);
    if (over) return;
    what();
  }
}

function version(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile("go", ["version"], { env, timeout: 30_000 }, (error, stdout) => {
      resolve(error === null ? (/go\d\S*/.exec(stdout)?.[0] ?? "Go") : undefined);
    });
  });
}

export function say(text: string): void {
  process.stderr.write(`[tests] ${text}\n`);
}
