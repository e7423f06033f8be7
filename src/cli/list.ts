import type { Clock } from "../clock.js";
import { type ElectionList, type ListedElection, listElections } from "../list-elections.js";
import type { Store } from "../store.js";
import { EXIT } from "./exit-codes.js";
import { failureOf } from "./failures.js";
import type { Progress } from "./progress.js";
import { clean, firstTen, leaderAsJson } from "./shown.js";
import { tryFor } from "./try-for.js";

/** `tenure list`, its arguments read. */
export interface ListOptions {
  readonly store: Store;
  readonly json: boolean;
  /** ms */
  readonly timeout: number;
  readonly clock: Clock;
  readonly progress: Progress;
}

/** What `tenure list` prints, and its exit code: that of the first election that cannot be read, if there is one. */
export async function list({ store, json, timeout, clock, progress }: ListOptions): Promise<{ text: string; code: number }> {
  const onProgress = (read: number, of: number) => progress.show(read, of);
  const found = await tryFor(timeout, store, clock, (signal) => listElections(store, { signal, clock, onProgress }));
  const problem = found.elections.find((listed) => listed.problem)?.problem;
  const text = json ? `${JSON.stringify(asJson(store.name, found), null, 2)}\n` : asTable(store.name, found);
  return { text, code: problem ? failureOf(problem).code : EXIT.ok };
}

function asJson(store: string, { exists, elections, foreign }: ElectionList): object {
  return {
    store,
    exists,
    elections: elections.map(({ election, leader, waiting, problem }) => ({
      election,
      leader: leaderAsJson(leader),
      waiting,
      problem: problem && { code: problem.code, message: problem.message },
    })),
    foreign,
  };
}

function asTable(store: string, { exists, elections, foreign }: ElectionList): string {
  const lines: string[] = [];
  if (!exists) lines.push(`${store} does not exist: no election was held there`);
  else if (elections.length === 0) lines.push(`no elections on ${store}`);
  else lines.push(...aligned([["ELECTION", "LEADER", "NUMBER", "FENCE", "WAITING"], ...elections.map(row)]));
  for (const { election, problem } of elections) if (problem) lines.push(`${election} cannot be read: ${clean(problem.message)}`);
  if (foreign.length > 0) {
    lines.push(`not tenure's: ${firstTen(foreign, (name) => clean(JSON.stringify(name)))}`);
  }
  return `${lines.join("\n")}\n`;
}

function row({ election, leader, waiting, problem }: ListedElection): string[] {
  if (problem) return [election, "?", "?", "?", "?"];
  return [election, leader ? clean(leader.id) : "none", leader ? `${leader.number}` : "-", leader ? `${leader.fence}` : "-", `${waiting}`];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
