import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { installApiLock } from "./install-api-lock.js";
import { within } from "./wait-for.js";

/** What the Go program tells; `at` is an instant of process.hrtime, ns (exact enough as a number for differences of ms). */
export type ApiLockEvent =
  | { readonly event: "waiting" | "held" | "released" | "withdrawn" | "lost" | "begin"; readonly at: number }
  /** From the call of Unlock at candidate `from` to the return of Lock at candidate `to`; they may be the same one. */
  | { readonly event: "hand-over"; readonly at: number; readonly ns: number; readonly from: number; readonly to: number }
  /** HTTP requests of all candidates since `begin`. */
  | { readonly event: "end"; readonly at: number; readonly requests: number };

export interface ApiLockOptions {
  /** Of its sessions, as Go writes durations. Default `15s`. */
  readonly ttl?: string;
  /** Lock-delay of its sessions; not 0. Default `1s`. */
  readonly delay?: string;
  readonly token?: string;
}

export interface ApiLockBenchOptions extends ApiLockOptions {
  /** Candidates, each with a session and a client of its own, in one process. */
  readonly n: number;
  /** Hand-overs that count, and those before them (default 5). */
  readonly rounds: number;
  readonly warmup?: number;
  /** How long each leads, ms. */
  readonly hold: number;
}

/** Lets a Go process take the lock on `key` at the agent `address` (host:port) by api.Lock. It waits for it when this resolves. */
export async function holdApiLock(address: string, key: string, options: ApiLockOptions = {}): Promise<ApiLock> {
  const lock = new ApiLock(await installApiLock(), ["hold", ...flags({ address, key, ...options })]);
  await lock.event("waiting");
  return lock;
}

/** Candidates of api.Lock that hand `key` on; tells of each event as it comes. Resolves when all have gone. */
export async function benchApiLock(
  address: string,
  key: string,
  { hold, ...options }: ApiLockBenchOptions,
  tell: (event: ApiLockEvent) => void,
): Promise<void> {
  const lock = new ApiLock(await installApiLock(), ["bench", ...flags({ address, key, ...options, hold: `${hold}ms` })], tell);
  await lock.ended;
}

function flags(options: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(options).map(([name, value]) => `-${name}=${value}`);
}

const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** A Go process with one candidate. */
export class ApiLock {
  /** Resolves when it has ended well; rejects with what it wrote if not, also when it was killed. */
  readonly ended: Promise<void>;
  readonly events: ApiLockEvent[] = [];
  readonly #process: ChildProcess;
  readonly #waiting = new Set<() => void>();

  constructor(command: string, args: readonly string[], tell: (event: ApiLockEvent) => void = () => {}) {
    // The client reads variables such as CONSUL_HTTP_TOKEN.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CONSUL_")));
    this.#process = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    alive.add(this.#process);
    let errors = "";
    this.#process.stderr?.on("data", (chunk) => {
      errors += chunk;
    });
    this.#process.stdin?.on("error", () => {});
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const event = JSON.parse(line) as ApiLockEvent;
      this.events.push(event);
      tell(event);
      for (const look of this.#waiting) look();
    });
    this.ended = new Promise((resolve, reject) => {
      this.#process.once("error", reject);
      this.#process.once("close", (code, signal) => {
        alive.delete(this.#process);
        if (code === 0) resolve();
        else reject(new Error(`the user of api.Lock ended (${code ?? signal}): ${errors.trim()}`));
      });
    });
    this.ended.catch(() => {});
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** Resolves once it has told of `name`; rejects after `timeout` ms, or when it ends without. */
  async event(name: ApiLockEvent["event"], timeout = 30_000): Promise<ApiLockEvent> {
    let look = () => {};
    const told = new Promise<ApiLockEvent>((resolve) => {
      look = () => {
        const event = this.events.find((candidate) => candidate.event === name);
        if (event) resolve(event);
      };
    });
    this.#waiting.add(look);
    look();
    const over = this.ended.then(() => Promise.reject(new Error(`the user of api.Lock ended without "${name}"`)));
    return within(Promise.race([told, over]), timeout, `api.Lock: ${name}`).finally(() => this.#waiting.delete(look));
  }

  /** Lets it unlock (or withdraw, if it still waits), and waits for its end. */
  async release(): Promise<void> {
    this.#process.stdin?.end("\n");
    await this.ended;
  }

  /** kill -9; its session lives on until it expires. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended.catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
