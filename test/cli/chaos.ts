import { fresh } from "../support/names.js";
import { until } from "../support/wait-for.js";
import { startZooKeeper, type ZooKeeperServer } from "../support/zookeeper-server.js";
import { childrenOf } from "./fake-wrapper.js";
import { alive, hrtimeMs, type Life, StampFile } from "./stamps.js";
import { Tenure } from "./tenure.js";

/** What is done to the leader, or to the server. */
export const BLOWS = ["KILL wrapper", "STOP wrapper", "TERM wrapper", "KILL keeper", "KILL command", "restart server"] as const;
export type Blow = (typeof BLOWS)[number];

export interface ChaosOptions {
  /** The same seed gives the same blows. Default 1. */
  readonly seed?: number;
  /** Default: each of BLOWS once, in random order, and from then on at random. */
  readonly blows?: readonly Blow[];
  readonly log?: (line: string) => void;
}

export interface ChaosReport {
  readonly blows: readonly Blow[];
  /** How many commands were started. */
  readonly commands: number;
  /** Empty: never were two commands alive, and none was left in a group. */
  readonly violations: readonly string[];
}

const IDS = ["a", "b", "c"];
/** ms */
const SESSION = 3000;
/** From a blow to the next command: session timeout, a tick, the start of two processes, and a busy machine. */
const PATIENCE = 30_000;

/**
 * Three candidates run a command that has a child and ignores TERM in half of the cases; `n` times something is killed
 * or stopped at random, or the server restarted. Commands stamp their lives by the clock that all processes share.
 */
export async function cycles(n: number, options: ChaosOptions = {}): Promise<ChaosReport> {
  const { seed = 1, log = () => {} } = options;
  const random = generator(seed);
  const server = await startZooKeeper({ tickTime: 500 });
  const file = new StampFile();
  const crew = new Crew(server, file, random);
  const done: Blow[] = [];
  const violations: string[] = [];
  try {
    const planned = options.blows ?? shuffled(BLOWS, random);
    for (let cycle = 0; cycle < n; cycle++) {
      const leader = await crew.leading();
      const blow = planned[cycle] ?? (BLOWS[Math.floor(random() * BLOWS.length)] as Blow);
      await pause(random() * 700);
      log(`${cycle + 1}/${n}: ${blow} of ${leader.label}`);
      await crew.strike(blow, leader);
      await crew.recovered(leader, blow);
      violations.push(...crew.violations(cycle + 1));
      done.push(blow);
      if (violations.length > 0) break;
    }
    await crew.stop();
    if (violations.length === 0) violations.push(...file.overlaps());
    violations.push(...file.survivors().map((pid) => `process ${pid} of a command was left at the end`));
    return { blows: done, commands: file.lives().length, violations };
  } finally {
    await crew.dispose();
    file.dispose();
    await server.dispose();
  }
}

class Crew {
  readonly #server: ZooKeeperServer;
  readonly #file: StampFile;
  readonly #random: () => number;
  readonly #url: string;
  readonly #wrappers = new Map<string, Tenure>();
  #stopped: { wrapper: Tenure; keeper: number } | null = null;
  #stopping = false;

  constructor(server: ZooKeeperServer, file: StampFile, random: () => number) {
    this.#server = server;
    this.#file = file;
    this.#random = random;
    this.#url = `zookeeper://${server.address}?root=/${fresh("chaos")}&sessionTimeout=${SESSION}ms&tickTime=500ms`;
    for (const id of IDS) this.#start(id);
  }

  /** The command that shows signs of life now. */
  leading(): Promise<Life> {
    const living = () => this.#file.lives().filter(({ to }) => hrtimeMs() - to < 150);
    return until(() => living().find(({ pids }) => pids.length === 2), {
      what: "a running command and its child",
      timeout: PATIENCE,
      every: 20,
    });
  }

  async strike(blow: Blow, leader: Life): Promise<void> {
    const wrapper = this.#wrappers.get(leader.label.split("/")[0] as string) as Tenure;
    const { keeper } = wrapper;
    if (blow === "restart server") {
      await this.#server.stop(this.#random() < 0.5 ? "SIGTERM" : "SIGKILL");
      await pause(this.#random() * SESSION * 1.5);
      return this.#server.start();
    }
    if (keeper === undefined) return;
    if (blow === "KILL keeper") return kill(keeper, "SIGKILL");
    if (blow === "KILL command") return kill(childrenOf(keeper)[0], "SIGKILL");
    if (blow === "STOP wrapper") this.#stopped = { wrapper, keeper };
    wrapper.kill(`SIG${blow.split(" ")[0]}` as NodeJS.Signals);
  }

  /** Waits for the command of another term (after a restart of the server the same may go on). */
  async recovered(before: Life, blow: Blow): Promise<void> {
    const next = () => this.#file.lives().find(({ from, label }) => label !== before.label && from > before.from);
    const same = () =>
      blow === "restart server" && this.#file.lives().find(({ label, to }) => label === before.label && hrtimeMs() - to < 150);
    await until(() => next() ?? same(), { what: `a command after ${blow}\n${this.#logs()}`, timeout: PATIENCE, every: 20 });
    if (!this.#stopped) return;
    const { wrapper, keeper } = this.#stopped;
    this.#stopped = null;
    await until(() => !alive(keeper) || childrenOf(wrapper.pid).length > 0, { what: "the end of the keeper of a stopped wrapper" });
    wrapper.kill("SIGCONT");
  }

  violations(cycle: number): string[] {
    const lives = this.#file.lives();
    const found = this.#file.overlaps();
    for (const life of lives.slice(0, -1)) {
      const left = life.pids.filter(alive);
      if (left.length > 0) found.push(`processes ${left} of ${life.label} are left`);
    }
    return found.map((text) => `cycle ${cycle}: ${text}`);
  }

  /** Tells all of them to stop, as an operator does. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const wrapper of this.#wrappers.values()) wrapper.kill("SIGTERM");
    await Promise.all([...this.#wrappers.values()].map((wrapper) => wrapper.exit(PATIENCE)));
  }

  async dispose(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#wrappers.values()].map((wrapper) => wrapper.dispose()));
  }

  #start(id: string): void {
    const term = this.#random() < 0.5 ? "ignore" : "100";
    const command = [process.execPath, ...this.#file.command("child=group", "every=20", `term=${term}`)];
    const wrapper = new Tenure(["run", "--store", this.#url, "--election", "chaos", "--id", id, "--drain", "1s", "--", ...command]);
    this.#wrappers.set(id, wrapper);
    wrapper.process.on("exit", () => {
      if (!this.#stopping) this.#start(id);
    });
  }

  #logs(): string {
    return [...this.#wrappers]
      .map(
        ([id, wrapper]) =>
          `${id}: ${wrapper.logs
            .slice(-3)
            .map(({ msg }) => msg)
            .join(" | ")}`,
      )
      .join("\n");
  }
}

function kill(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // It ended before.
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((each) => ({ each, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ each }) => each);
}

/** A linear congruential generator: the same seed gives the same numbers in [0, 1). Good enough to choose blows. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  // The first ones of neighbouring seeds are much alike.
  for (let count = 0; count < 8; count++) next();
  return next;
}
