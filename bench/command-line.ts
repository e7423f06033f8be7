import { type ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The options of the command line, after the store's name. Ends the program, with `usage`, if they are wrong or it asks for help. */
export function readCommandLine<T extends Options>(store: string, options: T, usage: string) {
  const [first, ...rest] = process.argv.slice(2);
  const args = first === store ? rest : [first as string, ...rest.filter((argument) => argument !== store)];
  if (args.includes("--help")) {
    process.stdout.write(usage);
    process.exit();
  }
  try {
    return parseArgs({ args, options, allowPositionals: false }).values;
  } catch (error) {
    return refuse((error as Error).message, usage);
  }
}

/** What of `known` the option `--only` names (names separated by commas); all without it. Ends the program if it names another one. */
export function partsOf<T extends string>(known: readonly T[], only: string | undefined, usage: string): readonly T[] {
  const wanted = only?.split(",") ?? known;
  const unknown = wanted.find((part) => !known.some((one) => one === part));
  if (unknown !== undefined) refuse(`--only: expected some of ${known.join(", ")}, got ${unknown}`, usage);
  return known.filter((part) => wanted.includes(part));
}

/** A whole number of at least 1. Ends the program if it is none. */
export function count(option: string, text: string, usage: string): number {
  if (!/^[1-9]\d*$/.test(text)) refuse(`--${option}: expected a whole number of at least 1, got ${text}`, usage);
  return Number(text);
}

/** As count, for several with commas between. */
export function counts(option: string, text: string, usage: string): number[] {
  return text.split(",").map((one) => count(option, one, usage));
}

/** Says what is wrong and ends the program. */
export function refuse(why: string, usage: string): never {
  process.stderr.write(`${why}\n${usage}`);
  process.exit(2);
}
