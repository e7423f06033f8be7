import { fresh } from "../../../support/names.js";
import { Candidate } from "../candidate.js";
import { ChildCandidate } from "../child-candidate.js";
import { now } from "../now.js";
import { Pace } from "../pace.js";
import { Findings, type Verdict } from "../verdict.js";

/** Milliseconds. */
const TIMEOUT = 6000;

/**
 * The leader's process is stopped for longer than its session lives. Its first question after that must be answered with
 * no, before any event has been handled. `how`: it asks in a loop that never lets go, or in every turn of the event loop.
 */
export async function stoppedLeader(server: string, tick: number, how: "spin" | "turns"): Promise<Verdict> {
  const findings = new Findings();
  const root = `/${fresh("sigstop")}`;
  // With the tickTime its deadline is later: it must still lead when it is stopped, also on a busy machine.
  const store = { servers: server, root, sessionTimeout: TIMEOUT, tickTime: tick };
  await using pace = await Pace.at(server);
  await using leader = new ChildCandidate({ store, id: "leader" });
  await leader.next("elected");
  await using successor = new Candidate({ store, id: "successor" });
  await successor.start().next("standby", 0);

  leader.order(how);
  await leader.next("spinning");
  const stopped = now();
  leader.signal("SIGSTOP");
  const elected = await successor.next("elected", 0);
  const bound = TIMEOUT + tick + 500 + (await pace.slack(stopped));
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
  const seen = leader.lines.length;
  leader.signal("SIGCONT");
  const jumped = await leader.next("jumped", seen);
  findings.must(jumped.before === true, "it did not lead when it was stopped");
  findings.must(jumped.first === false, "the first question after SIGCONT was answered with yes");
  if (how === "spin") {
    const before = leader.lines.slice(0, leader.lines.indexOf(jumped)).filter(({ what }) => what === "lost" || what === "draining");
    findings.must(before.length === 0, "an event was handled before the first question: it proves nothing");
  }
  findings.must(elected.at - stopped <= bound, `it took ${(elected.at - stopped).toFixed(0)} ms until there was a leader again`);
  await leader.next("lost", seen);
  await leader.next("standby", seen);
  findings.figure("successor after SIGSTOP", elected.at - stopped);
  return findings.verdict();
}

/** `kill -9` of the leader's process. The bound is the session timeout, one tick and 500 ms. */
export async function killedLeader(server: string, tick: number): Promise<Verdict> {
  const findings = new Findings();
  const root = `/${fresh("kill")}`;
  const store = { servers: server, root, sessionTimeout: TIMEOUT, tickTime: tick };
  await using pace = await Pace.at(server);
  await using leader = new ChildCandidate({ store, id: "leader" });
  await leader.next("elected");
  await using successor = new Candidate({ store, id: "successor" });
  await successor.start().next("standby", 0);
  await new Promise((resolve) => setTimeout(resolve, (Math.random() * TIMEOUT) / 3));
  const killed = now();
  leader.signal("SIGKILL");
  const elected = await successor.next("elected", 0);
  const took = elected.at - killed;
  findings.must(took <= TIMEOUT + tick + 500 + (await pace.slack(killed)), `it took ${took.toFixed(0)} ms until there was a leader again`);
  findings.figure("successor after the kill", took);
  return findings.verdict();
}
