import { setTimeout as sleep } from "node:timers/promises";
import { fresh } from "../../../support/names.js";
import { connectRaw } from "../../../support/raw-session.js";
import { until } from "../../../support/wait-for.js";
import { startZooKeeper } from "../../../support/zookeeper-server.js";
import { Belongings } from "../belongings.js";
import { Candidate } from "../candidate.js";
import { now } from "../now.js";
import { viewOf } from "../queue-view.js";
import { Findings, type Verdict } from "../verdict.js";

const TICK = 500;

/**
 * The server is stopped until the leader suspects it, and started again: before admission closes. The same term goes on.
 * `timeout`: of the sessions, ms.
 */
export async function restartedInTime(timeout: number): Promise<Verdict> {
  const findings = new Findings();
  await using server = await startZooKeeper({ tickTime: TICK, config: { maxSessionTimeout: 60_000 } });
  await using own = new Belongings();
  const store = { servers: server.address, root: `/${fresh("restart")}`, sessionTimeout: timeout };
  const leader = own.use(new Candidate({ store, id: "leader" })).start();
  const { term } = await leader.next("elected", 10_000, 0);
  const waiter = own.use(new Candidate({ store, id: "waiter" })).start();
  await waiter.next("standby", 10_000, 0);

  const [from, waiterFrom] = [leader.told.length, waiter.told.length];
  const stopped = now();
  await server.stop();
  await leader.next("suspect", timeout, from);
  await server.start();
  await leader.next("restored", timeout, from);
  findings.figure("restored after the stop", now() - stopped);
  findings.must(leader.story(from).join() === "suspect,restored", `the leader was told ${leader.story(from).join()}`);
  findings.must(waiter.story(waiterFrom).length === 0, `the waiter was told ${waiter.story(waiterFrom).join()}`);
  findings.must(leader.elector.term === term, "another term");

  // Both still are where they were, and know it.
  leader.elector.resign();
  await waiter.next("elected", timeout / 5, waiterFrom);
  await leader.next("standby", timeout / 5, from);
  return findings.verdict();
}

/**
 * The server stays away until admission closes, and comes back before the deadline: the term drains, its work ends, the
 * seat is handed on, and the candidate stands again. `reserve`: how long the server has for its start, ms.
 */
export async function restartedWhileDraining(timeout: number, reserve: number): Promise<Verdict> {
  const findings = new Findings();
  await using server = await startZooKeeper({ tickTime: TICK, config: { maxSessionTimeout: 60_000 } });
  await using own = new Belongings();
  const store = { servers: server.address, root: `/${fresh("yield")}`, sessionTimeout: timeout, tickTime: TICK };
  let end = () => {};
  const work = () => new Promise<void>((resolve) => (end = resolve));
  const leader = own.use(new Candidate({ store, id: "leader", reserve, work, drain: 60_000 })).start();
  await leader.next("elected", 10_000, 0);
  const waiter = own.use(new Candidate({ store, id: "waiter" })).start();
  await waiter.next("standby", 10_000, 0);

  const [from, waiterFrom] = [leader.told.length, waiter.told.length];
  await server.stop();
  await leader.next("draining", timeout, from);
  await server.start();
  // Proofs return; admission stays closed all the same.
  await until(() => (leader.elector.term?.remaining() ?? 0) > reserve, { timeout, what: "a proof has moved the deadline on" });
  await sleep(timeout / 10);
  findings.must(leader.isLeader, "the term did not go on while its work ended");
  findings.must(waiter.count("elected") === 0, "the seat was given away while work ran");
  end();
  const { at } = await leader.next("lost", timeout / 5, from);
  const elected = await waiter.next("elected", timeout / 5, waiterFrom);
  await leader.next("standby", 2 * timeout, from);
  const story = leader.story(from).join();
  findings.must(story === "suspect,draining:yielded,lost:yielded,standby", `the leader was told ${story}`);
  findings.figure("successor after lost", elected.at - at);
  return findings.verdict();
}

/** The server stays away beyond the deadline: `lost`, and a leader again once it is back. */
export async function restartedTooLate(timeout: number): Promise<Verdict> {
  const findings = new Findings();
  await using server = await startZooKeeper({ tickTime: TICK, config: { maxSessionTimeout: 60_000 } });
  await using own = new Belongings();
  const store = { servers: server.address, root: `/${fresh("late")}`, sessionTimeout: timeout };
  const both = ["one", "two"].map((id) => own.use(new Candidate({ store, id, work: "until-over" })));
  const [leader, waiter] = both as [Candidate, Candidate];
  await leader.start().next("elected", 10_000, 0);
  await waiter.start().next("standby", 10_000, 0);

  const [from, waiterFrom] = [leader.told.length, waiter.told.length];
  const stopped = now();
  await server.stop();
  const lost = await leader.next("lost", timeout, from);
  findings.must(!leader.isLeader, "isLeader is true after lost");
  findings.must(lost.at - stopped < timeout, `lost came ${(lost.at - stopped).toFixed(0)} ms after the stop`);
  await sleep(Math.random() * timeout);
  await server.start();
  const back = now();
  // The server gives every session that it knows a full fresh timeout; the wait before the next try to open one is 3 s at most.
  const elected = await Promise.race([
    waiter.next("elected", 2 * timeout + 5000, waiterFrom),
    leader.next("elected", 2 * timeout + 5000, from),
  ]);
  findings.figure("leader after the server is back", elected.at - back);
  findings.must(elected.at - back <= timeout + TICK + 3500, `it took ${(elected.at - back).toFixed(0)} ms until there was a leader again`);
  return findings.verdict();
}

/** The server comes back without its data. Each of the three candidates has a store, and so the memory of a process, of its own. */
export async function wiped(timeout: number): Promise<Verdict> {
  const findings = new Findings();
  await using server = await startZooKeeper({ tickTime: TICK, config: { maxSessionTimeout: 60_000 } });
  await using own = new Belongings();
  await fillHistory(server.address);
  const store = { servers: server.address, root: `/${fresh("wiped")}`, sessionTimeout: timeout };
  const all: Candidate[] = [];
  for (const id of ["first", "second", "third"]) {
    const candidate = own.use(new Candidate({ store, id, work: "until-over" })).start();
    all.push(candidate);
    await candidate.next(id === "first" ? "elected" : "standby", 10_000, 0);
  }
  const fence = all[0]?.elector.term?.fence ?? 0n;
  const from = all.map(({ told }) => told.length);

  await server.stop();
  server.wipe();
  await server.start();
  const back = now();
  // The new server refuses the old sessions without a word: they are over when nobody has served them for their timeout. What
  // a waiter believes until then says nothing, so the server is asked as well.
  await using view = await viewOf(server.address, store.root);
  const settled = async () => {
    const isNew = all.some(({ isLeader, elector }) => isLeader && elector.term?.fence !== fence);
    return isNew && all.filter(({ elector }) => elector.state === "standby").length === 2 && (await view.entries()).length === 3;
  };
  await until(settled, { timeout: 2 * timeout + 10_000, every: 20, what: "one leads and two wait" });
  findings.figure("all back after", now() - back);
  const leader = all.find(({ isLeader }) => isLeader);
  findings.must((leader?.elector.term?.fence ?? fence) < fence, "the fence is not lower than before: the test shows nothing");

  // Everybody leads at last; each process refuses at most once (and goes to the tail when it does).
  const hasLed = (candidate: Candidate) => candidate.told.slice(from[all.indexOf(candidate)]).some(({ what }) => what === "elected");
  for (let round = 0; round < 8 && !all.every(hasLed); round++) {
    const one = all.find(({ isLeader }) => isLeader) as Candidate;
    const told = one.told.length;
    one.elector.resign();
    await one.next("lost", 5000, told);
    await until(settled, { timeout: 5000, every: 20, what: "one leads and two wait again" });
  }
  for (const [index, candidate] of all.entries()) {
    const since = candidate.told.slice(from[index]);
    const refusals = since.filter(({ error }) => (error as { code?: string } | null)?.code === "fence-regressed");
    findings.must(refusals.length <= 1, `${candidate.elector.id} refused ${refusals.length} times`);
    findings.must(hasLed(candidate), `${candidate.elector.id} was never elected again: ${candidate.story(from[index]).join()}`);
  }
  const refusals = all.flatMap(({ told }) => told.filter(({ error }) => (error as { code?: string } | null)?.code === "fence-regressed"));
  findings.must(refusals.length > 0, "nobody refused the lower fence");
  findings.figure("refusals (number)", refusals.length);
  return findings.verdict();
}

/** So that fences given before the data are wiped are higher than those given afterwards. */
async function fillHistory(address: string): Promise<void> {
  await using raw = await connectRaw(address);
  await raw.create("/history");
  for (let count = 0; count < 500; count++) await raw.set("/history", String(count));
}
