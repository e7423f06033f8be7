import { type Clock, systemClock } from "../clock.js";
import { play } from "./demo-story.js";
import { EXIT } from "./exit-codes.js";
import { useColour } from "./logging.js";

const STDOUT = 1;
/** Of the names in the story, in the terminal's own colours. */
const COLOURS: Readonly<Record<string, number>> = { anna: 36, ben: 33, cleo: 35, ledger: 31 };
const BOLD = 1;
const DIM = 2;
const GREEN = 32;
const RED = 31;

/** `tenure demo`: tells the story as it happens, on stdout. Resolves with the exit code. */
export async function demo(clock: Clock = systemClock): Promise<number> {
  const coloured = useColour(STDOUT);
  const paint = (code: number | undefined, text: string) => (coloured && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text);
  const write = (text: string) => void process.stdout.write(`${text}\n`);
  // The reader may go away in the middle, as `tenure demo | head` does.
  process.stdout.on("error", () => process.exit(EXIT.ok));
  const begun = clock.mono();
  const time = () => paint(DIM, `${((clock.mono() - begun) / 1000).toFixed(2).padStart(6)} s`);

  write("An election in memory, as it happens. Each candidate plays a process of its own.");
  const claims = await play(
    clock,
    (who, text) => write(`${time()}  ${paint(COLOURS[who], who.padEnd(6))}  ${text}`),
    (text) => write(`\n${paint(BOLD, text)}`),
  );

  write(`\n${paint(BOLD, "What this showed")}`);
  for (const { text, held } of claims) write(`  ${held ? paint(GREEN, "yes") : paint(RED, "NO ")}  ${text}`);
  const failed = claims.filter(({ held }) => !held).length;
  write(failed === 0 ? "\nNext: tenure run --help" : `\n${failed} of ${claims.length} did not happen as told: please report it.`);
  return failed === 0 ? EXIT.ok : EXIT.no;
}
