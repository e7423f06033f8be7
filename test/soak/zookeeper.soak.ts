import { inject } from "vitest";
import { cycles } from "../cli/chaos.js";
import { blackholedLeader } from "../faults/support/scenarios/blackholed-leader.js";
import { cutFollower, DECEIVED, GROUPS, PHASES, SHORTEST } from "../faults/support/scenarios/cut-follower.js";
import { tenHandOvers } from "../faults/support/scenarios/hand-over.js";
import { restartedInTime, restartedTooLate, restartedWhileDraining, wiped } from "../faults/support/scenarios/restarts.js";
import { allSteps, type Step, stopAt } from "../faults/support/scenarios/stop-anywhere.js";
import { killedLeader, stoppedLeader } from "../faults/support/scenarios/stopped-process.js";
import { withdrawals } from "../faults/support/scenarios/withdrawals.js";
import type { Verdict } from "../faults/support/verdict.js";
import { counted } from "./soak.js";

const server = inject("zookeeper");
const TICK = 500;

counted("blackholed leader, with work", 20, () => blackholedLeader(server, TICK, "until-over"), { abreast: 2 });
counted("blackholed leader, without work", 20, () => blackholedLeader(server, TICK, "none"), { abreast: 2 });
counted("SIGSTOP of the leader, asking without pause", 20, () => stoppedLeader(server, TICK, "spin"), { abreast: 2 });
counted("SIGSTOP of the leader, asking in every turn", 20, () => stoppedLeader(server, TICK, "turns"), { abreast: 2 });
counted("kill -9 of the leader", 20, () => killedLeader(server, TICK), { abreast: 4 });
counted("ten hand-overs among ten candidates", 5, () => tenHandOvers(server));
counted("random withdrawals, 12 s", 5, () => withdrawals(server, { rule: "ours", duration: 12_000 }));
counted("random withdrawals, claiming whenever a predecessor goes", 3, () => withdrawals(server, { rule: "hasty", duration: 30_000 }), {
  control: /began (while|with) [1-9]/,
});
counted("server restarted before admission closes, 40 s", 5, () => restartedInTime(40_000));
counted("server restarted before the deadline, 40 s", 5, () => restartedWhileDraining(40_000, 20_000), { abreast: 2 });
counted("server restarted after the deadline", 5, () => restartedTooLate(4000));
counted("server restarted after the deadline, 40 s", 1, () => restartedTooLate(40_000));
counted("server restarted without its data", 5, () => wiped(4000));
const steps: Step[] = [];
const nextStep = async () => {
  if (steps.length === 0) steps.push(...(await allSteps(server)));
  return stopAt(server, steps.shift() as Step);
};
counted("stop() at every step, with every fault", 120, nextStep, { abreast: 4 });
for (const group of [SHORTEST, ...GROUPS, DECEIVED]) {
  let cuts = 0;
  const scenario = async () => (await cutFollower(10, [group], PHASES[cuts++ % PHASES.length])).get(group) ?? [];
  counted(
    `follower cut off: ${group.name}`,
    group === DECEIVED ? 10 : 20,
    scenario,
    group === DECEIVED ? { control: /isLeader was true/ } : {},
  );
}

counted("tenure run: a cycle of killing something", 50, async () => {
  const { blows, violations } = await cycles(50, { seed: Date.now() % 1000, log });
  return blows.map((_, index): Verdict => ({ problems: index === blows.length - 1 ? violations : [], figures: {} }));
});

function log(line: string): void {
  process.stdout.write(`  ${line}\n`);
}
