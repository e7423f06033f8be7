import { Command, InvalidArgumentError, Option } from "commander";
import { addOperators, type OperatorActions } from "./args-operators.js";
import { authOption, type CommonFlags, duration, ENVIRONMENT_HELP, electionOption, levelOption, storeOption } from "./args-options.js";
import { EXIT_CODES_HELP } from "./exit-codes.js";

/** Durations in ms. */
export interface RunFlags extends CommonFlags {
  readonly election: string;
  readonly acl?: string;
  readonly id?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly drain: number;
  readonly reserve?: number;
  readonly restart?: true;
  readonly exitOnLoss?: true;
  readonly timeout?: number;
  readonly try?: true;
}

export interface StatusFlags extends CommonFlags {
  readonly election: string;
  readonly json?: true;
  readonly timeout: number;
}

/** What the commands do; each resolves with the exit code. */
export interface Actions extends OperatorActions {
  run(command: [string, ...string[]], flags: RunFlags): Promise<void>;
  status(flags: StatusFlags): Promise<void>;
  demo(): Promise<void>;
}

/** The command line of `tenure`. Parsing it throws commander's CommanderError, for help too. */
export function makeProgram(version: string, actions: Actions): Command {
  const program = new Command("tenure")
    .description("Leader election whose leadership can be proved.")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "tenure: ")) })
    .showSuggestionAfterError()
    .addHelpText("after", `\n${ENVIRONMENT_HELP}\n\n${EXIT_CODES_HELP}`);
  program
    .command("run")
    .description("Runs a command on exactly one of all who stand in the election: only while this candidate leads.")
    .usage("--store URL --election NAME [options] -- COMMAND [ARGUMENT...]")
    .argument("<command...>", "the command, after --")
    .addOption(storeOption())
    .addOption(electionOption())
    .option("--id <id>", "how this candidate is shown (default: host, process and a random part)")
    .option("--metadata <key=value>", "shown beside the id; repeatable", collect)
    .addOption(duration("--drain <time>", "how long the command may take to end once it got TERM").default(30_000, "30s"))
    .addOption(duration("--reserve <time>", "how long before the deadline it gets TERM (default: 1/8 of the session timeout)"))
    .option("--restart", "when the command ends by itself, hand over and stand again")
    .option("--exit-on-loss", "exit with status 74 when the term is lost, instead of standing again")
    .addOption(duration("--timeout <time>", "exit with status 75 when not elected within this time (69: store unreachable)"))
    .addOption(new Option("--try", "exit with status 75 unless elected at once").conflicts("timeout"))
    .addOption(authOption())
    .addOption(
      new Option(
        "--acl <list>",
        'who may do what with the nodes that are made: "creator", or scheme:id:permissions,... (default: all)',
      ).env("TENURE_ACL"),
    )
    .addOption(levelOption("info"))
    .addHelpText("after", `\n${RUN_HELP}\n\n${ENVIRONMENT_HELP}\n\n${EXIT_CODES_HELP}`)
    .action((command: [string, ...string[]], flags: RunFlags) => actions.run(command, flags));
  program
    .command("status")
    .description("Shows who leads and who waits. Exits with status 1 when there is no leader.")
    .addOption(storeOption())
    .addOption(electionOption())
    .option("--json", "for programs")
    .addOption(duration("--timeout <time>", "exit with status 69 when the store has not answered within this time").default(10_000, "10s"))
    .addOption(authOption())
    .addOption(levelOption("warn"))
    .addHelpText("after", `\n${EXIT_CODES_HELP}`)
    .action((flags: StatusFlags) => actions.status(flags));
  addOperators(program, actions);
  program
    .command("demo")
    .description("Shows an election with nothing but Node: hand-over, crash, partition, and a late write that is rejected.")
    .action(() => actions.demo());
  return program;
}

const RUN_HELP = `The command runs in a process group of its own, with TENURE_ELECTION, TENURE_TERM, TENURE_FENCE, TENURE_CANDIDATE and
TENURE_STATUS_FILE (JSON: the number, the fence as a string, the deadline) in its environment. It reads our stdin (/dev/null
when we run in the background of a terminal). When the term comes to its end it gets TERM, and KILL at the latest 250 ms before
the deadline; the seat is handed on only when nothing of its group is left.

Signals: TERM and INT go on to the command, which has --drain to end; then it is killed, the seat is handed on, and tenure exits
with the command's status (128+n when none was running). A second one kills it at once. HUP, QUIT, USR1 and USR2 go on to
the command; they are ignored while none is running.

A separate keeper process kills the command when tenure itself is killed, and at the deadline when it is stopped (as by Ctrl-Z).
Not covered: both killed at the same moment, and children of the command that call setsid.`;

function collect(text: string, all: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("expected key=value");
  return { ...all, [text.slice(0, at)]: text.slice(at + 1) };
}
