import type { Results } from "./consul-report.js";
import { Limits } from "./table.js";

/** What was found beside its limit. */
export function verdicts(results: Results): string {
  const limits = new Limits();
  const mine = <T extends { readonly system: string }>(list: readonly T[] | undefined) =>
    list?.filter(({ system }) => system === "tenure") ?? [];

  for (const [candidates, limit] of [
    [20, 0.5],
    [100, 0.2],
  ] as const) {
    const row = mine(results.handOvers).find((one) => one.candidates === candidates);
    limits.judge(`hand-over to api.Lock, ${candidates} candidates`, row?.ratio, limit);
  }
  const counts = mine(results.requests);
  for (const row of counts) {
    limits.judge(`requests a hand-over, ${row.candidates} candidates`, row.perHandOver, 6);
    limits.judge(`raft entries a hand-over, ${row.candidates} candidates`, row.raft, 2);
  }
  const [few, many] = [2, 100].map((candidates) => counts.find((row) => row.candidates === candidates));
  if (few && many) {
    limits.judge("more requests a hand-over at 100 candidates than at 2", many.perHandOver - few.perHandOver, 0);
    limits.judge("more raft entries a hand-over at 100 candidates than at 2", many.raft - few.raft, 0);
  }
  return limits.print();
}
