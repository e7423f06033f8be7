import { Limits } from "./table.js";
import type { Results } from "./zookeeper-report.js";

/** What was found beside its limit. */
export function verdicts(results: Results): string {
  const limits = new Limits();
  const mine = <T extends { readonly system: string }>(list: readonly T[] | undefined, where: (row: T) => boolean = () => true) =>
    list?.find((row) => row.system === "tenure" && where(row));

  for (const again of ["at-once", "later"] as const) {
    for (const [candidates, limit] of [
      [2, 1.1],
      [200, 0.9],
    ] as const) {
      const ratio = mine(results.handOvers, (row) => row.candidates === candidates && row.again === again)?.ratio;
      limits.judge(`hand-over to LeaderLatch, ${candidates} candidates, again ${again}`, ratio ?? undefined, limit);
    }
    limits.judge(
      `hand-over to LeaderLatch, three servers, again ${again}`,
      mine(results.three, (row) => row.again === again)?.ratio ?? undefined,
      0.8,
    );
  }
  for (const row of results.requests?.filter(({ system }) => system === "tenure") ?? []) {
    limits.judge(`requests a hand-over, ${row.candidates} candidates`, row.perHandOver, 5);
  }
  const many = mine(results.many?.handedOver);
  limits.judge(`${many?.elections} elections handed over, to ${results.many?.anchor.writes} writes`, many?.ratio, 1);
  for (const what of ["isLeader", "assertValid"]) {
    const question = mine(results.questions, (row) => row.what === what);
    const whole = (value: number) => value.toFixed(0);
    limits.judge(`${what}, ns`, question?.ns, 300, whole);
    // A few kilobytes of the machinery's own, spread over a million calls.
    limits.judge(`${what}, bytes retained`, question?.retained, 0.01, (value) => value.toFixed(3));
  }
  const memory = mine(results.memory);
  limits.judge("kB an election, waiting (heap and external memory)", memory && memory.waiting.heap / 1000, 12);
  limits.judge("kB an election, waiting (RSS)", memory && memory.waiting.rss / 1000, 12);
  const others = memory && Object.entries({ ...memory.idle.waiting, ...memory.idle.leading }).filter(([name]) => !isTouchOrProof(name));
  limits.judge(
    "idle: requests other than touches, proofs and pings",
    others?.reduce((sum, [, count]) => sum + count, 0),
    0,
    (value) => value.toFixed(0),
  );
  return limits.print();
}

function isTouchOrProof(request: string): boolean {
  return request === "ping" || request === "exists /" || request === "multi[check /]";
}
