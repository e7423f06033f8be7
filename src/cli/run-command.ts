import type { Clock, Timer } from "../clock.js";
import type { Logger } from "../logger.js";
import { feedDeadlines } from "./deadline-feed.js";
import { signalStatus } from "./exit-codes.js";
import { killGroup, onlyLeaderLeft } from "./group-end.js";
import { startKeeper } from "./keeper-link.js";
import type { CommandLine, FromKeeper } from "./keeper-protocol.js";
import type { MachineInstant } from "./machine-time.js";
import { sessionMembers, signalGroup } from "./process-group.js";

/** What is needed of a term. */
export interface CommandTerm {
  /** Milliseconds until the deadline. */
  remaining(): number;
  /** Aborts when the command should come to its end. */
  readonly draining: AbortSignal;
  /** Aborts when the term is over. */
  readonly signal: AbortSignal;
}

export interface CommandOptions {
  readonly command: CommandLine;
  /** How long the command may take to end once it was told to, in ms. */
  readonly drain: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For the list of processes. */
  readonly title: string;
  /** Called with the deadline, several times a second. */
  onDeadline(deadline: MachineInstant): void;
}

/**
 * How a command came to its end:
 * - `itself`: nobody told it to
 * - `told`: it was told to (a signal to stop, or the term came to its end), and killed if it did not
 * - `keeper`: its keeper died, so it was killed
 * - `not-started`: the term was over too soon, or the keeper could not be started (see the log)
 */
export interface CommandEnd {
  readonly because: "itself" | "told" | "keeper" | "not-started";
  /** The exit status, 128+n for a signal; null when nobody saw it. */
  readonly status: number | null;
}

/** A command that runs for one term. */
export interface RunningCommand {
  /** Settles after nothing of the command's process group is left. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Sends a signal on to the group. */
  forward(signal: NodeJS.Signals): void;
  /** Tells the command to end: `signal` now, KILL once `drain` has run out. Only the first call counts. */
  terminate(signal: NodeJS.Signals): void;
  /** Kills the group at once. */
  kill(why: string): void;
}

/** How long those have, between TERM and KILL, whom a command leaves behind when it ends by itself, in ms. */
const LEFT_BEHIND = 2000;

/**
 * Runs a command until it ends by itself or the term does. It gets TERM when the term drains, and KILL when `drain` has
 * run out, when KILL_MARGIN is left before the deadline, or when the term is over, whichever comes first. If the keeper dies
 * it is killed, too. Each of these rules has its case in test/cli/run-command.test.ts ("SIGSTOP of the keeper", "kill -9 of the
 * keeper", "is killed at once when the term is over", …).
 */
export function runCommand(term: CommandTerm, options: CommandOptions): RunningCommand {
  return new Supervisor(term, options);
}

class Supervisor implements RunningCommand {
  readonly ended: Promise<CommandEnd>;
  readonly #options: CommandOptions;
  readonly #done = new AbortController();
  #settle: (end: CommandEnd) => void = () => {};
  /** Null before the keeper runs and from its death on: then the number may come to be somebody else's. */
  #group: number | null = null;
  #started = false;
  #exit: number | null = null;
  #byItself = false;
  #told = false;
  #killed = false;
  #held: NodeJS.Signals[] = [];
  #drain: Timer | null = null;
  #stopFeeding = () => {};

  constructor(term: CommandTerm, options: CommandOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    try {
      if (term.draining.aborted || term.signal.aborted) this.#finish();
      else this.#start(term);
    } catch (error) {
      this.#failed(error as Error);
      this.kill("it could not be watched over");
    }
  }

  forward(signal: NodeJS.Signals): void {
    if (this.#group === null) return;
    // Until the command runs, the keeper may not be ready to be sent signals.
    if (this.#started) signalGroup(this.#group, signal);
    else this.#held.push(signal);
  }

  terminate(signal: NodeJS.Signals): void {
    if (this.#told || this.#group === null) return;
    this.#told = true;
    if (!this.#started) return this.kill("the command had not been started yet");
    this.#options.logger.debug({ signal, drain: this.#options.drain }, "telling the command to end");
    signalGroup(this.#group, signal);
    this.#killAfter(this.#options.drain, "it did not end within --drain");
  }

  kill(why: string): void {
    if (this.#group === null || this.#killed) return;
    this.#killed = true;
    if (this.#started && this.#exit === null) this.#options.logger.warn({ why }, `killing the command: ${why}`);
    this.#stopFeeding();
    signalGroup(this.#group, "SIGKILL");
  }

  #start(term: CommandTerm): void {
    const { clock, title, command, onDeadline } = this.#options;
    const keeper = startKeeper(title, {
      onReport: (line) => this.#onReport(line),
      onDeath: () => this.#onDeath(),
      onGone: (error) => void this.#onGone(keeper.group, error),
    });
    this.#group = keeper.group;
    if (keeper.group === null) return;
    const { signal } = this.#done;
    term.draining.addEventListener("abort", () => this.terminate("SIGTERM"), { signal });
    term.signal.addEventListener("abort", () => this.kill("the term is over"), { signal });
    let running = false;
    this.#stopFeeding = feedDeadlines(term, clock, {
      deadline: (deadline) => {
        onDeadline(deadline);
        if (running) keeper.feed(deadline);
        else keeper.run(command, deadline);
        running = true;
      },
      due: () => this.kill("the deadline has come"),
    });
  }

  #onReport(line: FromKeeper): void {
    switch (line.kind) {
      case "started":
        this.#started = true;
        this.#options.logger.debug({ command: line.pid, group: this.#group }, "the command runs");
        for (const signal of this.#held.splice(0)) this.forward(signal);
        return;
      case "failed":
        this.#options.logger.error({}, `cannot start the command: ${line.message}`);
        this.#exit = line.status;
        this.#byItself = true;
        return this.kill(line.message);
      case "exited":
        this.#exit = line.signal === null ? line.code : signalStatus(line.signal);
        this.#byItself = !this.#told;
        return void this.#afterExit();
      case "killing":
        this.#killed = true;
        return this.#options.logger.warn({ why: line.why }, `the keeper kills the command: ${line.why}`);
    }
  }

  /** The command's first process has ended; those of its group that live on are told to end, too. */
  async #afterExit(): Promise<void> {
    if (this.#group === null || this.#killed) return;
    const { clock, drain } = this.#options;
    const others = sessionMembers(this.#group)?.some((pid) => pid !== this.#group);
    if (others && !this.#told) {
      signalGroup(this.#group, "SIGTERM");
      this.#killAfter(Math.min(LEFT_BEHIND, drain), "processes of its group live on");
    }
    if (others) await onlyLeaderLeft(this.#group, clock, this.#done.signal);
    this.kill("the command has ended");
  }

  #onDeath(): void {
    this.#stopFeeding();
    if (!this.#killed) this.#options.logger.error({ group: this.#group }, "the keeper died; killing the command");
    if (this.#group !== null) signalGroup(this.#group, "SIGKILL");
    this.#group = null;
  }

  async #onGone(group: number | null, error: Error | null): Promise<void> {
    const { clock, logger } = this.#options;
    if (error) this.#failed(error);
    if (group !== null) await killGroup(group, clock, logger);
    this.#finish();
  }

  #failed(error: Error): void {
    this.#options.logger.error({}, `cannot start the keeper: ${error.message}`);
    if (this.#group === null) this.#finish();
  }

  #finish(): void {
    this.#done.abort();
    this.#drain?.cancel();
    this.#stopFeeding();
    this.#settle({ because: this.#because(), status: this.#exit ?? (this.#started ? signalStatus("SIGKILL") : null) });
  }

  #because(): CommandEnd["because"] {
    if (!this.#started && this.#exit === null) return "not-started";
    if (this.#byItself) return "itself";
    return this.#told || this.#killed ? "told" : "keeper";
  }

  #killAfter(ms: number, why: string): void {
    this.#drain?.cancel();
    this.#drain = this.#options.clock.after(ms, () => this.kill(why));
  }
}
