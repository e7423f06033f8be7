import { fresh } from "../../../support/names.js";
import { Belongings } from "../belongings.js";
import { Candidate } from "../candidate.js";
import { now } from "../now.js";
import { Pace } from "../pace.js";
import { Findings, type Verdict } from "../verdict.js";

/** Milliseconds. */
const TIMEOUT = 10_000;
const INTERVAL = TIMEOUT / 5;

/**
 * Ten candidates, each on a session of its own; the leader resigns, ten times in a row. Each hand-over must end within half
 * a proof interval, and seat who was next in line.
 */
export async function tenHandOvers(server: string): Promise<Verdict> {
  const findings = new Findings();
  const store = { servers: server, root: `/${fresh("hand-over")}`, sessionTimeout: TIMEOUT, tickTime: 500 };
  await using own = new Belongings();
  const line: Candidate[] = [];
  for (let index = 0; index < 10; index++) {
    const candidate = own.use(new Candidate({ store, id: `candidate-${index}` })).start();
    line.push(candidate);
    await candidate.next(index === 0 ? "elected" : "standby", 0);
  }
  await using pace = await Pace.at(server);
  const took: number[] = [];
  let fence = line[0]?.elector.term?.fence ?? 0n;
  for (let round = 0; round < 10; round++) {
    const [leader, successor] = line as [Candidate, Candidate];
    const from = successor.told.length;
    const back = leader.told.length;
    const resigned = now();
    leader.elector.resign();
    const { at, term } = await successor.next("elected", from);
    took.push(at - resigned);
    const bound = INTERVAL / 2 + (await pace.slack(resigned));
    findings.must(at - resigned < bound, `a hand-over took ${(at - resigned).toFixed(0)} ms, it may take ${bound.toFixed(0)} ms`);
    findings.must(term !== null && term.fence > fence, `the fence did not rise: ${term?.fence} after ${fence}`);
    fence = term?.fence ?? fence;
    const others = line.filter((candidate) => candidate !== successor && candidate.isLeader);
    findings.must(others.length === 0, `${others.length} others lead after hand-over ${round}`);
    await leader.next("standby", back);
    line.push(line.shift() as Candidate);
  }
  findings.figure("hand-over, shortest", Math.min(...took));
  findings.figure("hand-over, middle", took.sort((a, b) => a - b)[5] as number);
  findings.figure("hand-over, longest", Math.max(...took));
  return findings.verdict();
}
