import { isatty } from "node:tty";
import type { Clock, Timer } from "../clock.js";
import { Elector } from "../elector.js";
import { StoreError, timedOut } from "../errors.js";
import type { Logger } from "../logger.js";
import type { Store } from "../store.js";
import type { Term } from "../term.js";
import { processStat } from "./process-group.js";
import { type CommandEnd, type RunningCommand, runCommand } from "./run-command.js";
import { StatusFile } from "./status-file.js";

/** What one candidacy of `tenure run` needs. */
export interface StandOptions {
  readonly store: Store;
  readonly election: string;
  readonly id: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** ms */
  readonly drain: number;
  /** ms; null: the core's default. */
  readonly reserve: number | null;
  /** The command and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly exitOnLoss: boolean;
  /** Give up when not elected after so long, ms; null: never. */
  readonly timeout: number | null;
  /** Give up when another stands before us. */
  readonly once: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * How a candidacy ended:
 * - `ended`: the command did, by itself, `lasted` ms after the election
 * - `stopped`: a signal asked for it; `status` is the command's, null when none was running
 * - `again`: the keeper died or could not be started
 */
export type Outcome =
  | { readonly kind: "ended"; readonly status: number; readonly lasted: number }
  | { readonly kind: "again"; readonly lasted: number }
  | { readonly kind: "stopped"; readonly signal: NodeJS.Signals; readonly status: number | null }
  | { readonly kind: "not-elected" | "term-lost" }
  | { readonly kind: "unreachable" | "failed"; readonly error: Error };

/** One candidacy: stands until the command has ended by itself, the seat is handed on, and nothing is left at the store. */
export class Stand {
  /** Settles after the withdrawal. Never rejects, once the constructor has not thrown. */
  readonly outcome: Promise<Outcome>;
  readonly #options: StandOptions;
  readonly #elector: Elector;
  #settle: (outcome: Outcome) => void = () => {};
  #decided: Outcome | null = null;
  #running: RunningCommand | null = null;
  #timer: Timer | null = null;
  #stopSignal: NodeJS.Signals | null = null;
  #status: number | null = null;
  #trouble: Error | null = null;

  /** Throws a ConfigError for bad options. */
  constructor(options: StandOptions) {
    this.#options = options;
    const { store, election, id, metadata, drain, reserve, clock, logger } = options;
    this.#elector = new Elector({
      store,
      election,
      metadata,
      drain,
      clock,
      logger: withoutStopped(logger),
      ...(id !== undefined && { id }),
      ...(reserve !== null && { reserve }),
    });
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#listen();
    if (options.timeout !== null) this.#timer = clock.after(options.timeout, () => this.#tooLate());
    logger.info(
      { election, candidate: this.#elector.id, store: store.name },
      `standing for ${election} as ${this.#elector.id} on ${store.name}`,
    );
    this.#elector.start();
  }

  get id(): string {
    return this.#elector.id;
  }

  /** Tells the command to end, hands over and withdraws. */
  stop(signal: NodeJS.Signals): void {
    this.#stopSignal ??= signal;
    this.#running?.terminate(signal);
    this.#decide({ kind: "stopped", signal, status: null });
  }

  /** Kills the command; false when none is running. */
  kill(): boolean {
    this.#running?.kill("a second signal to stop came");
    return this.#running !== null;
  }

  /** Sends a signal on to the command; false when none is running. */
  forward(signal: NodeJS.Signals): boolean {
    this.#running?.forward(signal);
    return this.#running !== null;
  }

  #listen(): void {
    const { logger, exitOnLoss, once, election } = this.#options;
    this.#elector.on("standby", () => {
      logger.info({ election }, "standing by");
      if (once) this.#decide({ kind: "not-elected" });
    });
    this.#elector.on("elected", (term) => this.#lead(term));
    this.#elector.on("suspect", ({ remaining }) => {
      logger.warn({ election, remaining }, `the store does not answer; ${(remaining / 1000).toFixed(1)} s left until the deadline`);
    });
    this.#elector.on("restored", () => logger.info({ election }, "the store answers again"));
    this.#elector.on("lost", ({ term, reason }) => {
      if (reason === "stopped" || reason === "resigned")
        return logger.info({ election, number: term.number }, `term ${term.number} is over`);
      logger.warn({ election, number: term.number, reason }, `lost term ${term.number}: ${reason}`);
      if (exitOnLoss) this.#decide({ kind: "term-lost" });
    });
    this.#elector.on("warning", (error) => {
      this.#trouble = error;
      // One look is one try at every server that the URL names.
      if (once && error instanceof StoreError && error.code === "unreachable") this.#decide({ kind: "unreachable", error });
    });
    this.#elector.on("stopped", ({ error }) => this.#finish(error));
  }

  async #lead(term: Term): Promise<void> {
    this.#timer?.cancel();
    if (this.#decided) return;
    const { clock, logger, election } = this.#options;
    logger.info({ election, number: term.number, fence: term.token }, `elected: term ${term.number}, fence ${term.token}`);
    const begun = clock.mono();
    try {
      const end = await this.#runCommand(term);
      this.#afterCommand(end, clock.mono() - begun);
    } catch (error) {
      // The term must not go on without its command.
      this.#decide({ kind: "failed", error: error as Error });
    }
  }

  async #runCommand(term: Term): Promise<CommandEnd> {
    const { clock, logger, drain, command, election } = this.#options;
    const file = new StatusFile({ ...pick(term), candidate: this.#elector.id }, logger);
    try {
      const [name, ...args] = command;
      this.#running = runCommand(term, {
        command: { file: name, args, env: this.#environment(term, file), noInput: inBackground(), folder: file.folder },
        drain,
        clock,
        logger,
        title: `tenure run: keeper of ${election}`,
        onDeadline: (deadline) => file.update(deadline, term.draining.aborted),
      });
      return await this.#running.ended;
    } finally {
      this.#running = null;
      file.remove();
    }
  }

  #afterCommand(end: CommandEnd, lasted: number): void {
    const { logger, exitOnLoss, election } = this.#options;
    this.#status = end.status;
    logger.info(
      { election, status: end.status, because: end.because },
      `the command has ended${end.status === null ? "" : ` with status ${end.status}`}`,
    );
    if (end.because === "itself") this.#decide({ kind: "ended", status: end.status ?? 0, lasted });
    else if (end.because !== "told") this.#decide(exitOnLoss ? { kind: "term-lost" } : { kind: "again", lasted });
    // A command that was killed just before the deadline may leave a term behind that a late proof has saved.
    else this.#elector.resign();
  }

  #environment(term: Term, file: StatusFile): NodeJS.ProcessEnv {
    return {
      ...process.env,
      TENURE_ELECTION: term.election,
      TENURE_TERM: String(term.number),
      TENURE_FENCE: term.token,
      TENURE_CANDIDATE: this.#elector.id,
      TENURE_STATUS_FILE: file.path,
    };
  }

  #tooLate(): void {
    const { store, timeout } = this.#options;
    if (this.#elector.state !== "connecting") return this.#decide({ kind: "not-elected" });
    this.#decide({ kind: "unreachable", error: this.#trouble ?? timedOut(store.name, timeout ?? 0) });
  }

  #decide(outcome: Outcome): void {
    if (this.#decided) return;
    this.#decided = outcome;
    this.#timer?.cancel();
    void this.#elector.stop();
  }

  #finish(error: Error | null): void {
    this.#timer?.cancel();
    const outcome = this.#decided ?? { kind: "failed", error: error ?? new Error("the elector stopped by itself") };
    this.#settle(this.#stopSignal ? { kind: "stopped", signal: this.#stopSignal, status: this.#status } : outcome);
  }
}

/** What stops an elector by itself is told once, with the exit status. */
function withoutStopped(logger: Logger): Logger {
  return {
    debug: (fields, text) => logger.debug(fields, text),
    info: (fields, text) => logger.info(fields, text),
    warn: (fields, text) => logger.warn(fields, text),
    error: (fields, text) => logger.debug(fields, text),
  };
}

function pick({ election, number, token, since }: Term) {
  return { election, number, token, since };
}

/** Whether our stdin is a terminal whose foreground is somebody else's: reading it would take their input. */
function inBackground(): boolean {
  if (!isatty(0)) return false;
  const stat = processStat("self");
  return stat !== null && stat.foreground !== stat.group;
}
