import { setTimeout as sleep } from "node:timers/promises";
import { fresh } from "../../../support/names.js";
import { connectRaw } from "../../../support/raw-session.js";
import { PATIENCE, until } from "../../../support/wait-for.js";
import { startZooKeeper } from "../../../support/zookeeper-server.js";
import { Belongings } from "../belongings.js";
import { Candidate } from "../candidate.js";
import { now } from "../now.js";
import { Pace } from "../pace.js";
import { viewOf } from "../queue-view.js";
import { sample } from "../sampler.js";
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
  const store = { servers: server.address, root: `/${fresh("restart")}`, sessionTimeout: timeout, tickTime: TICK };
  const leader = own.use(new Candidate({ store, id: "leader" })).start();
  const { term } = await leader.next("elected", 0);
  const waiter = own.use(new Candidate({ store, id: "waiter" })).start();
  await waiter.next("standby", 0);

  const [from, waiterFrom] = [leader.told.length, waiter.told.length];
  const stopped = now();
  await server.stop();
  await leader.next("suspect", from);
  await server.start();
  await leader.next("restored", from);
  findings.figure("restored after the stop", now() - stopped);
  findings.must(leader.deeds(from).length === 0, `the leader was told ${leader.story(from).join()}`);
  findings.must(waiter.story(waiterFrom).length === 0, `the waiter was told ${waiter.story(waiterFrom).join()}`);
  findings.must(leader.elector.term === term, "another term");

  // Both still are where they were, and know it.
  leader.elector.resign();
  await waiter.next("elected", waiterFrom);
  await leader.next("standby", from);
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
  await leader.next("elected", 0);
  const waiter = own.use(new Candidate({ store, id: "waiter" })).start();
  await waiter.next("standby", 0);

  const [from, waiterFrom] = [leader.told.length, waiter.told.length];
  await server.stop();
  await leader.next("draining", from);
  await server.start();
  // Proofs return; admission stays closed all the same.
  await until(() => (leader.elector.term?.remaining() ?? 0) > reserve, { what: "a proof has moved the deadline on" });
  await sleep(timeout / 10);
  findings.must(leader.isLeader, "the term did not go on while its work ended");
  findings.must(waiter.count("elected") === 0, "the seat was given away while work ran");
  end();
  const { at } = await leader.next("lost", from);
  const elected = await waiter.next("elected", waiterFrom);
  await leader.next("standby", from);
  const story = leader.deeds(from).join();
  findings.must(story === "draining:yielded,lost:yielded,standby", `the leader was told ${story}`);
  findings.figure("successor after lost", elected.at - at);
  return findings.verdict();
}

/** The server stays away beyond the deadline: `lost`, and a leader again once it is back. */
export async function restartedTooLate(timeout: number): Promise<Verdict> {
  const findings = new Findings();
  await using server = await startZooKeeper({ tickTime: TICK, config: { maxSessionTimeout: 60_000 } });
  await using own = new Belongings();
  const store = { servers: server.address, root: `/${fresh("late")}`, sessionTimeout: timeout, tickTime: TICK };
  const both = ["one", "two"].map((id) => own.use(new Candidate({ store, id, work: "until-over" })));
  const [leader, waiter] = both as [Candidate, Candidate];
  await leader.start().next("elected", 0);
  await waiter.start().next("standby", 0);

  const [from, waiterFrom] = [leader.told.length, waiter.told.length];
  const samples = sample(leader);
  const stopped = now();
  await server.stop();
  await leader.next("lost", from);
  samples.stop();
  findings.must(!leader.isLeader, "isLeader is true after lost");
  const led = samples.lastTrue - stopped;
  findings.must(led < timeout, `isLeader was true ${led.toFixed(0)} ms after the stop`);
  await sleep(Math.random() * timeout);
  await server.start();
  const back = now();
  await using pace = await Pace.at(server.address);
  // The server gives every session that it knows a full fresh timeout; the wait before the next try to open one is 3 s at most.
  const elected = await Promise.race([waiter.next("elected", waiterFrom), leader.next("elected", from)]);
  findings.figure("leader after the server is back", elected.at - back);
  const bound = timeout + TICK + 3500 + (await pace.slack(back));
  findings.must(elected.at - back <= bound, `it took ${(elected.at - back).toFixed(0)} ms until there was a leader again`);
  return findings.verdict();
}

/** The server comes back without its data. Each of the three candidates has a store, and so the memory of a process, of its own. */
export async function wiped(timeout: number): Promise<Verdict> {
  const findings = new Findings();
  await using server = await startZooKeeper({ tickTime: TICK, config: { maxSessionTimeout: 60_000 } });
  await using own = new Belongings();
  await fillHistory(server.address);
  const store = { servers: server.address, root: `/${fresh("wiped")}`, sessionTimeout: timeout, tickTime: TICK };
  const all: Candidate[] = [];
  for (const id of ["first", "second", "third"]) {
    const candidate = own.use(new Candidate({ store, id, work: "until-over" })).start();
    all.push(candidate);
    await candidate.next(id === "first" ? "elected" : "standby", 0);
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
  await until(settled, { timeout: 2 * timeout + 2 * PATIENCE, every: 20, what: "one leads and two wait" });
  findings.figure("all back after", now() - back);
  const leader = all.find(({ isLeader }) => isLeader);
  findings.must((leader?.elector.term?.fence ?? fence) < fence, "the fence is not lower than before: the test shows nothing");

  // Everybody leads at last; each process refuses at most once (and goes to the tail when it does).
  const hasLed = (candidate: Candidate) => candidate.told.slice(from[all.indexOf(candidate)]).some(({ what }) => what === "elected");
  for (let round = 0; round < 8 && !all.every(hasLed); round++) {
    const one = all.find(({ isLeader }) => isLeader) as Candidate;
    const told = one.told.length;
    one.elector.resign();
    await one.next("lost", told);
    await until(settled, { every: 20, what: "one leads and two wait again" });
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
