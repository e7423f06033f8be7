import { Backoff } from "../backoff.js";
import { type Clock, sleep, systemClock } from "../clock.js";
import { ConfigError } from "../errors.js";
import type { Logger } from "../logger.js";
import type { Store } from "../store.js";
import { EXIT, signalStatus } from "./exit-codes.js";
import { failureOf } from "./failures.js";
import { cannotRun } from "./find-command.js";
import { KILL_MARGIN } from "./machine-time.js";
import { onSignals } from "./signals.js";
import { type Outcome, Stand } from "./stand.js";

/** `tenure run`, its arguments read. */
export interface RunOptions {
  readonly store: Store;
  readonly election: string;
  readonly id: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly drain: number;
  readonly reserve: number | null;
  readonly restart: boolean;
  readonly exitOnLoss: boolean;
  readonly timeout: number | null;
  readonly try: boolean;
  readonly command: readonly [string, ...string[]];
  readonly logger: Logger;
}

/** How long `--try` waits for the store, ms. */
export const TRY_TIMEOUT = 10_000;

/** Standing again after the command has ended: at least this long, ms, and a random time up to RESTART_BASE doubling to RESTART_CAP. */
const RESTART_LEAST = 500;
const RESTART_BASE = 1000;
const RESTART_CAP = 30_000;
/** A command that ran for so long, ms, makes the next wait short again. */
const RESTART_RESET = 10_000;

/** Stands, runs the command while leading, and resolves with the exit code. Throws a {@link ConfigError}. */
export async function run(options: RunOptions): Promise<number> {
  const { logger, reserve, command } = options;
  const problem = cannotRun(command[0], process.env.PATH);
  if (problem) {
    logger.error({}, problem.message);
    return problem.status;
  }
  if (process.platform === "win32") throw new ConfigError("tenure run", "needs process groups, which Windows does not have");
  if (reserve !== null && reserve <= KILL_MARGIN) {
    throw new ConfigError("--reserve", `expected more than ${KILL_MARGIN}ms: that long before the deadline the command is killed`);
  }
  return new Runner(options, systemClock).run();
}

class Runner {
  readonly #options: RunOptions;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  #stopSignal: NodeJS.Signals | null = null;
  #stand: Stand | null = null;
  #give: (code: number) => void = () => {};
  #first = true;
  /** One id for all candidacies of this process. */
  #id: string | undefined;

  constructor(options: RunOptions, clock: Clock) {
    this.#options = options;
    this.#id = options.id;
    this.#clock = clock;
    this.#backoff = new Backoff(clock, RESTART_BASE, RESTART_CAP);
  }

  async run(): Promise<number> {
    const forced = new Promise<number>((resolve) => {
      this.#give = resolve;
    });
    const off = onSignals({ stop: (signal, count) => this.#onStop(signal, count), forward: (signal) => this.#onForward(signal) });
    try {
      return await Promise.race([this.#loop(), forced]);
    } finally {
      off();
    }
  }

  /** One candidacy after the other, until one of them says how to exit. */
  async #loop(): Promise<number> {
    for (;;) {
      const outcome = await this.#once();
      const code = this.#exitCode(outcome);
      if (code !== null) return code;
      if ("lasted" in outcome && outcome.lasted >= RESTART_RESET) this.#backoff.reset();
      const wait = RESTART_LEAST + this.#backoff.next();
      this.#options.logger.info({ wait }, `standing again in ${(wait / 1000).toFixed(1)} s`);
      await sleep(this.#clock, wait, this.#stop.signal).catch(() => {});
      if (this.#stopSignal) return signalStatus(this.#stopSignal);
    }
  }

  async #once(): Promise<Outcome> {
    const { timeout, try: once, ...rest } = this.#options;
    const limit = once ? TRY_TIMEOUT : timeout;
    this.#stand = new Stand({ ...rest, id: this.#id, clock: this.#clock, once: once && this.#first, timeout: this.#first ? limit : null });
    this.#first = false;
    this.#id = this.#stand.id;
    const outcome = await this.#stand.outcome;
    this.#stand = null;
    return outcome;
  }

  /** Null: stand again. */
  #exitCode(outcome: Outcome): number | null {
    const { logger, restart, election } = this.#options;
    switch (outcome.kind) {
      case "ended":
        return restart ? null : outcome.status;
      case "again":
        return null;
      case "stopped":
        return outcome.status ?? signalStatus(outcome.signal);
      case "not-elected":
        logger.error(
          { election },
          `not elected${this.#options.try ? " at once" : " in time"}: another one stands before us (see \`tenure status\`)`,
        );
        return EXIT.notElected;
      case "term-lost":
        logger.error({ election }, "the term was lost, and --exit-on-loss is given");
        return EXIT.termLost;
      case "unreachable":
      case "failed": {
        const failure = failureOf(outcome.error);
        logger.error({ election, err: outcome.error }, failure.line);
        return failure.code;
      }
    }
  }

  #onStop(signal: NodeJS.Signals, count: number): void {
    this.#stopSignal ??= signal;
    this.#options.logger.info({ signal }, count === 1 ? `${signal}: stopping` : `${signal} again`);
    this.#stop.abort();
    if (count === 1) return this.#stand?.stop(signal);
    // With nothing running there is nothing to wait for but the store, which frees the seat by itself.
    if (!this.#stand?.kill()) this.#give(signalStatus(this.#stopSignal));
  }

  #onForward(signal: NodeJS.Signals): void {
    const sent = this.#stand?.forward(signal) ?? false;
    this.#options.logger.debug({ signal }, sent ? `${signal} sent on` : `${signal} ignored: no command is running`);
  }
}
