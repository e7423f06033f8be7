import { fresh } from "../../../support/names.js";
import { Candidate } from "../candidate.js";
import { ChildCandidate } from "../child-candidate.js";
import { now } from "../now.js";
import { Findings, type Verdict } from "../verdict.js";

/** Milliseconds. */
const TIMEOUT = 4000;

/**
 * The leader's process is stopped for longer than its session lives. Its first question after that must be answered with
 * no, before any event has been handled. `how`: it asks in a loop that never lets go, or in every turn of the event loop.
 */
export async function stoppedLeader(server: string, tick: number, how: "spin" | "turns"): Promise<Verdict> {
  const findings = new Findings();
  const root = `/${fresh("sigstop")}`;
  // With the tickTime its deadline is later: it must still lead when it is stopped, also on a busy machine.
  const store = { servers: server, root, sessionTimeout: TIMEOUT, tickTime: tick };
  await using leader = new ChildCandidate({ store, id: "leader" });
  await leader.next("elected", 15_000);
  await using successor = new Candidate({ store, id: "successor" });
  await successor.start().next("standby", 10_000, 0);

  leader.order(how);
  await leader.next("spinning", 5000);
  const stopped = now();
  leader.signal("SIGSTOP");
  const elected = await successor.next("elected", TIMEOUT + tick + 3000, 0);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
  const seen = leader.lines.length;
  leader.signal("SIGCONT");
  const jumped = await leader.next("jumped", 5000, seen);
  findings.must(jumped.before === true, "it did not lead when it was stopped");
  findings.must(jumped.first === false, "the first question after SIGCONT was answered with yes");
  if (how === "spin") {
    const before = leader.lines.slice(0, leader.lines.indexOf(jumped)).filter(({ what }) => what === "lost" || what === "draining");
    findings.must(before.length === 0, "an event was handled before the first question: it proves nothing");
  }
  findings.must(
    elected.at - stopped <= TIMEOUT + tick + 500,
    `it took ${(elected.at - stopped).toFixed(0)} ms until there was a leader again`,
  );
  await leader.next("lost", 5000, seen);
  await leader.next("standby", 3 * TIMEOUT, seen);
  findings.figure("successor after SIGSTOP", elected.at - stopped);
  return findings.verdict();
}

/** `kill -9` of the leader's process. The bound is the session timeout, one tick and 500 ms. */
export async function killedLeader(server: string, tick: number): Promise<Verdict> {
  const findings = new Findings();
  const root = `/${fresh("kill")}`;
  const store = { servers: server, root, sessionTimeout: TIMEOUT };
  await using leader = new ChildCandidate({ store, id: "leader" });
  await leader.next("elected", 15_000);
  await using successor = new Candidate({ store, id: "successor" });
  await successor.start().next("standby", 10_000, 0);
  await new Promise((resolve) => setTimeout(resolve, (Math.random() * TIMEOUT) / 3));
  const killed = now();
  leader.signal("SIGKILL");
  const elected = await successor.next("elected", TIMEOUT + tick + 3000, 0);
  const took = elected.at - killed;
  findings.must(took <= TIMEOUT + tick + 500, `it took ${took.toFixed(0)} ms until there was a leader again`);
  findings.figure("successor after the kill", took);
  return findings.verdict();
}
