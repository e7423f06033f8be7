import { Command, InvalidArgumentError, Option } from "commander";
import { parseDurationText } from "../duration.js";
import { ConfigError } from "../errors.js";
import { EXIT_CODES_HELP } from "./exit-codes.js";
import { LOG_LEVELS } from "./logging.js";

/** Options of `run` and `status`. */
export interface CommonFlags {
  readonly store: string;
  readonly election: string;
  readonly authFile?: string;
  readonly logLevel: string;
}

/** Durations in ms. */
export interface RunFlags extends CommonFlags {
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
  readonly json?: true;
  readonly timeout: number;
}

/** What the commands do; each resolves with the exit code. */
export interface Actions {
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

const ENVIRONMENT_HELP = `Environment:
  TENURE_STORE, TENURE_ELECTION  defaults of --store and --election
  TENURE_AUTH                    credentials for the store, as digest:user:password
  TENURE_AUTH_FILE               a file that holds them (as --auth-file)
  TENURE_TLS_PASSPHRASE          the passphrase of the TLS key that the URL names (keyFile=)
  TENURE_TLS_PASSPHRASE_FILE     a file that holds it
  TENURE_ACL                     default of --acl
  NO_COLOR                       no colours`;

function storeOption(): Option {
  return new Option("--store <url>", "where the election is held, e.g. zookeeper://zk1:2181,zk2:2181/app?sessionTimeout=15s")
    .env("TENURE_STORE")
    .makeOptionMandatory();
}

function electionOption(): Option {
  return new Option("--election <name>", "the name of the election").env("TENURE_ELECTION").makeOptionMandatory();
}

function authOption(): Option {
  return new Option("--auth-file <file>", "a file with the credentials for the store: digest:user:password");
}

function levelOption(level: string): Option {
  return new Option("--log-level <level>", "to stderr").choices([...LOG_LEVELS]).default(level);
}

function duration(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string) => {
    try {
      return parseDurationText("", text);
    } catch (error) {
      if (error instanceof ConfigError) throw new InvalidArgumentError(error.message.replace(/^: /, ""));
      throw error;
    }
  });
}

function collect(text: string, all: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("expected key=value");
  return { ...all, [text.slice(0, at)]: text.slice(at + 1) };
}
