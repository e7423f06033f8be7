import type { Results } from "./consul-report.js";
import { LOCK_DELAY } from "./consul-systems.js";
import { CRASH_TTL } from "./parts/consul-crash.js";
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
  const [crash] = mine(results.crash);
  limits.judge("crash of the leader, from its last renewal to the next leader, at most", crash?.max, 2 * CRASH_TTL + LOCK_DELAY + 50);
  const whole = (value: number) => value.toFixed(0);
  const [traffic] = mine(results.many?.traffic);
  limits.judge(`connections of a process with ${traffic?.elections} elections`, traffic?.connections, 16, whole);
  limits.judge(`requests refused, ${traffic?.elections} elections from one process to another`, traffic?.refused, 0, whole);
  const [crashes] = mine(results.many?.crashes);
  const latest = crashes && Math.max(...crashes.late);
  limits.judge(`crash of the leader of ${crashes?.elections} elections, all led after the session's end and the delay`, latest, 1000);
  return limits.print();
}
