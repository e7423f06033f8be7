import { type Command, Option } from "commander";
import { authOption, type CommonFlags, duration, electionOption, levelOption, storeOption } from "./args-options.js";
import { EXIT_CODES_HELP } from "./exit-codes.js";

/** Durations in ms. */
export interface WatchFlags extends CommonFlags {
  readonly election: string;
  readonly json?: true;
  readonly alertAfter?: number;
}

export interface ListFlags extends CommonFlags {
  readonly json?: true;
  readonly timeout: number;
}

export interface EvictFlags extends CommonFlags {
  readonly election: string;
  readonly id?: string;
  readonly entry?: string;
  readonly leader?: true;
  readonly hold?: number;
  readonly now?: true;
  readonly yes?: true;
  readonly json?: true;
  readonly timeout: number;
}

/** What the commands for operators do. */
export interface OperatorActions {
  watch(flags: WatchFlags): Promise<void>;
  list(flags: ListFlags): Promise<void>;
  evict(flags: EvictFlags): Promise<void>;
}

/** Adds the commands for those who look after elections without standing in them. */
export function addOperators(program: Command, actions: OperatorActions): void {
  program
    .command("watch")
    .description("Tells who leads, and each change of it, until it is told to end (INT, TERM).")
    .addOption(storeOption())
    .addOption(electionOption())
    .option("--json", "for programs: a JSON object a line")
    .addOption(
      duration(
        "--alert-after <time>",
        "exit with status 2 when nobody was seen to lead for this long (69: when the store is out of sight)",
      ),
    )
    .addOption(authOption())
    .addOption(levelOption("error"))
    .addHelpText("after", `\n${WATCH_HELP}\n\n${EXIT_CODES_HELP}`)
    .action((flags: WatchFlags) => actions.watch(flags));
  program
    .command("list")
    .description("Lists the elections of a store: who leads each, and how many wait. Changes nothing.")
    .addOption(storeOption())
    .option("--json", "for programs")
    .addOption(duration("--timeout <time>", "exit with status 69 when the list is not complete within this time").default(60_000, "60s"))
    .addOption(authOption())
    .addOption(levelOption("warn"))
    .addHelpText("after", `\n${EXIT_CODES_HELP}`)
    .action((flags: ListFlags) => actions.list(flags));
  program
    .command("evict")
    .description("Takes a candidate out of an election by force. It stands again at the tail, unless it has ended.")
    .addOption(storeOption())
    .addOption(electionOption())
    .addOption(new Option("--id <id>", "whom: the candidate that is shown so").conflicts(["entry", "leader"]))
    .addOption(new Option("--entry <entry>", "whom: by its entry, as `tenure status --json` shows it").conflicts(["id", "leader"]))
    .addOption(new Option("--leader", "whom: the one that leads").conflicts(["id", "entry"]))
    .option("--yes", "also if it leads, without asking")
    .addOption(duration("--hold <time>", "how long the seat of a leader is kept free at most (default: the session timeout)"))
    .addOption(new Option("--now", "do not keep it free: the next one may lead while the evicted one still works").conflicts("hold"))
    .option("--json", "for programs")
    .addOption(
      duration("--timeout <time>", "for the store to answer, and then for the next leader (75: there is none)").default(10_000, "10s"),
    )
    .addOption(authOption())
    .addOption(levelOption("warn"))
    .addHelpText("after", `\n${EVICT_HELP}\n\n${EXIT_CODES_HELP}`)
    .action((flags: EvictFlags) => actions.evict(flags));
}

const EVICT_HELP = `The work of an evicted leader is told to end, at once. A leader that is paused or cut off cannot hear that, and believes until its
deadline. So its seat is kept free until it stands again, or until its deadline must have passed: --hold must be as long as the
session timeout of the candidates, if that is not the one in --store. With --now two may believe at once; only sinks that check the
fence are safe then. To end a term in order, stop the process instead.`;

const WATCH_HELP = `Each line has the time, who leads (or that nobody does), number, fence, and since when. When the store is lost from sight that is
said once on stderr, and once when it is seen again; with --json as lines of another "type" (leader, blind, sighted, alert).`;
