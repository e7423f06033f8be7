import { afterAll, expect, it } from "vitest";
import type { Verdict } from "../faults/support/verdict.js";

interface Row {
  readonly name: string;
  readonly ok: boolean;
  readonly control: boolean;
  readonly seconds: number;
  readonly verdicts: readonly Verdict[];
}

const rows: Row[] = [];

export interface CountedOptions {
  /** How many run at a time. Default 1. */
  readonly abreast?: number;
  /** A rule is left out on purpose: fails unless a problem like this is found. */
  readonly control?: RegExp;
}

/**
 * One counted line: runs `scenario` until `runs` verdicts have come (it may bring several at once) and tells of each. Fails
 * unless all of them hold.
 */
export function counted(
  name: string,
  runs: number,
  scenario: () => Promise<Verdict | readonly Verdict[]>,
  options: CountedOptions = {},
): void {
  const { abreast = 1, control } = options;
  it(name, { timeout: 3_600_000 }, async () => {
    const begun = performance.now();
    const verdicts: Verdict[] = [];
    let started = 0;
    const some = async () => {
      while (started < runs && verdicts.length < runs) {
        started++;
        const found = [await scenario().catch(failed)].flat() as Verdict[];
        verdicts.push(...found);
        say(`${name}: ${verdicts.filter(holds).length} of ${verdicts.length} held (of ${runs})`);
        for (const problem of found.flatMap(({ problems }) => problems)) say(`  ${problem}`);
      }
    };
    await Promise.all(Array.from({ length: abreast }, some));
    const held = verdicts.filter(holds).length;
    const ok = control ? verdicts.some(({ problems }) => problems.some((problem) => control.test(problem))) : held === verdicts.length;
    rows.push({ name, ok, control: control !== undefined, seconds: (performance.now() - begun) / 1000, verdicts });
    expect(ok, `${held} of ${verdicts.length} held`).toBe(true);
  });
}

afterAll(() => {
  say("\nVERDICT");
  for (const { name, ok, control, seconds, verdicts } of rows) {
    const note = control ? " (a control: problems must be found)" : "";
    say(`${ok ? "ok  " : "FAIL"} ${verdicts.filter(holds).length} of ${verdicts.length} held  ${name}${note}  (${seconds.toFixed(0)} s)`);
    for (const line of ranges(verdicts)) say(`       ${line}`);
  }
  say(rows.length > 0 && rows.every(({ ok }) => ok) ? "all held" : "NOT all held");
});

/** Of each figure the least, the middle and the greatest. */
function ranges(verdicts: readonly Verdict[]): string[] {
  const names = [...new Set(verdicts.flatMap(({ figures }) => Object.keys(figures)))];
  return names.map((name) => {
    const values = verdicts.flatMap(({ figures }) => (figures[name] === undefined ? [] : [figures[name]])).sort((a, b) => a - b);
    return `${name}: ${values[0]} … ${values[Math.floor(values.length / 2)]} … ${values.at(-1)}`;
  });
}

function failed(error: unknown): Verdict {
  return { problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)], figures: {} };
}

function holds({ problems }: Verdict): boolean {
  return problems.length === 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
