import { setTimeout as sleep } from "node:timers/promises";
import { type ZooKeeperHandle, zookeeper } from "../../../../adapters/zookeeper/index.js";
import { observe, type Term } from "../../../../src/index.js";
import { fresh } from "../../../support/names.js";
import { until } from "../../../support/wait-for.js";
import { Belongings } from "../belongings.js";
import { Candidate } from "../candidate.js";
import { hasty } from "../hasty-store.js";
import { now } from "../now.js";
import { type QueueView, viewOf } from "../queue-view.js";
import { Findings, type Verdict } from "../verdict.js";

/** Milliseconds. */
const TIMEOUT = 10_000;
const CANDIDATES = 6;

export interface WithdrawalsOptions {
  readonly rule: "ours" | "hasty";
  /** Milliseconds; with the hasty rule only until a problem is found. */
  readonly duration: number;
}

/**
 * Leaders and waiters withdraw at random, one, two or three at once, and another client deletes entries. At each `elected` a
 * second session must see no entry before the one elected, and none of another candidate that believes to lead.
 */
export async function withdrawals(server: string, { rule, duration }: WithdrawalsOptions): Promise<Verdict> {
  const findings = new Findings();
  const root = `/${fresh("withdrawals")}`;
  await using view = await viewOf(server, root);
  await using own = new Belongings();
  const checks: Promise<void>[] = [];
  const resting = new Set<Candidate>();
  const candidates = Array.from({ length: CANDIDATES }, (_, index): Candidate => {
    const store = zookeeper({ servers: server, root, sessionTimeout: TIMEOUT });
    // Who is observed as well keeps the session when it withdraws; the others open a new one.
    const used = rule === "hasty" ? hasty(store, view) : store;
    if (index % 2 === 0) own.use(observe(used, "seat"));
    return own.use(
      new Candidate({
        store: used,
        id: `candidate-${index}`,
        onElected: (term) => {
          const checked = check(term, candidates, view, findings);
          checks.push(checked.catch((error) => findings.must(false, `no check: ${error}`)));
        },
      }),
    );
  });
  for (const candidate of candidates) candidate.start();
  await until(() => candidates.some(({ isLeader }) => isLeader), { what: "somebody leads" });

  const end = now() + duration;
  const counts = { withdrawn: 0, removed: 0 };
  // A slow machine gets the time that it needs for enough of them.
  while ((now() < end || (rule === "ours" && checks.length < 10)) && (rule === "ours" || findings.verdict().problems.length === 0)) {
    for (const candidate of pick(candidates.filter((each) => !resting.has(each)))) {
      counts.withdrawn++;
      if (candidate.isLeader && Math.random() < 0.5) candidate.elector.resign();
      else restart(candidate, resting);
    }
    if (Math.random() < 0.05) counts.removed += await removeOne(view);
    await sleep(Math.random() < 0.5 ? 0 : Math.random() * 15);
  }
  // None is stuck: when they are left alone, somebody leads.
  if (rule === "ours") {
    await until(() => resting.size === 0, { what: "those who withdrew are back" });
    const leads = async () => {
      const id = await view.leader();
      return candidates.some(({ isLeader, elector }) => isLeader && elector.id === id);
    };
    await until(leads, { what: "somebody leads when all is quiet, and the term names it" });
  }
  await own[Symbol.asyncDispose]();
  await Promise.all(checks);
  findings.must(rule === "hasty" || checks.length >= 10, `only ${checks.length} terms`);
  findings.figure("terms (number)", checks.length);
  findings.figure("withdrawn (number)", counts.withdrawn);
  findings.figure("removed (number)", counts.removed);
  return findings.verdict();
}

/** Entries only go away: one that is seen a little later was there when the term was entered. */
async function check(term: Term, candidates: readonly Candidate[], view: QueueView, findings: Findings): Promise<void> {
  const believers = candidates.flatMap(({ elector }) => (elector.term && elector.term !== term ? [elector.term] : []));
  const entries = await view.entries();
  const [mine, ...theirs] = [term, ...believers].map(({ handle }) => (handle as ZooKeeperHandle).entryPath.split("/").at(-1) as string);
  const before = entries.filter((entry) => sequence(entry) < sequence(mine as string));
  findings.must(before.length === 0, `term ${term.number} began with ${before.length} entries before its own`);
  const live = theirs.filter((entry) => entries.includes(entry));
  findings.must(live.length === 0, `term ${term.number} began while ${live.length} others held the seat`);
}

function sequence(entry: string): number {
  return Number(entry.slice(-10));
}

function pick(from: readonly Candidate[]): Candidate[] {
  const count = 1 + Math.floor(Math.random() * 3);
  return [...from].sort(() => Math.random() - 0.5).slice(0, count);
}

function restart(candidate: Candidate, resting: Set<Candidate>): void {
  resting.add(candidate);
  void candidate.stop().then(() => {
    resting.delete(candidate);
    candidate.start();
  });
}

async function removeOne(view: QueueView): Promise<number> {
  const entries = await view.entries();
  const entry = entries[Math.floor(Math.random() * entries.length)];
  if (entry === undefined) return 0;
  return view.raw.delete(view.entryPath(entry)).then(
    () => 1,
    () => 0,
  );
}
