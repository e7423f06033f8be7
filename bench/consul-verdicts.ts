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
  return limits.print();
}
