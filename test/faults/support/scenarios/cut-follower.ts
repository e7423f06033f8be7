import { setTimeout as sleep } from "node:timers/promises";
import { isHandle, type ZooKeeperHandle, zookeeper } from "../../../../adapters/zookeeper/index.js";
import type { Term } from "../../../../src/index.js";
import { fresh } from "../../../support/names.js";
import { type FaultProxy, startProxy } from "../../../support/proxy.js";
import { connectRaw } from "../../../support/raw-session.js";
import { startEnsemble, type ZooKeeperEnsemble } from "../../../support/zookeeper-ensemble.js";
import type { ZooKeeperServer } from "../../../support/zookeeper-server.js";
import { Belongings } from "../belongings.js";
import { Candidate } from "../candidate.js";
import { expiryOf } from "../expiries.js";
import { now } from "../now.js";
import { connectPinger } from "../pinger.js";
import { type Samples, sample } from "../sampler.js";
import { Findings, together, type Verdict } from "../verdict.js";

/** What is done to the clients of a group before the cut. */
export interface Group {
  readonly name: string;
  /** Of the sessions, ms. */
  readonly timeout: number;
  /** What they are told of the servers' tickTime, ms; null: nothing. */
  readonly tickTime: number | null;
  /** Their requests are held back for 1.9 s and released together, 20 ms before the cut. */
  readonly heldBack: boolean;
  /** How often each term is confirmed just before the cut; the second time 110 ms after the first. */
  readonly confirmed: 0 | 1 | 2;
}

const TICK = 2000;
/** Longer than every session of the test lives after the cut, in ticks: so long a follower answers without the others. */
const SYNC_LIMIT = 10;

/**
 * The ensemble leader expires sessions at full ticks of the clock that all processes here share. So one whose last relayed
 * touch came before a full tick lives shortest, if newer touches came between that tick and the cut: so long after it, ms.
 * Long enough for a rule without the gap to be found wrong by more than the margin (250 ms), and short enough for most phases.
 */
export const PHASES = [700, 1200] as const;

const CONFIRMED: Group = { name: "confirmed, 8 s", timeout: 8000, tickTime: TICK, heldBack: false, confirmed: 2 };

export const GROUPS: readonly Group[] = [
  { name: "plain, 6 s", timeout: 6000, tickTime: null, heldBack: false, confirmed: 0 },
  { name: "held back, 8 s", timeout: 8000, tickTime: TICK, heldBack: true, confirmed: 0 },
  CONFIRMED,
  { name: "held back and confirmed, 8 s", timeout: 8000, tickTime: TICK, heldBack: true, confirmed: 1 },
];

/** The shortest session that these servers grant: on a busy machine it may drain before the cut. */
export const SHORTEST: Group = { name: "plain, 4 s", timeout: 4000, tickTime: null, heldBack: false, confirmed: 0 };

/** Told a tickTime that is far too small, so that hardly any gap is left: some of these must be found to lead for too long. */
export const DECEIVED: Group = { ...CONFIRMED, name: "gap left out", tickTime: 1 };

/** One election: its leader is a client of the follower, who succeeds it is not. */
interface Seat {
  readonly leader: Candidate;
  readonly successor: Candidate;
  readonly term: Term;
  readonly session: bigint;
}

/**
 * An ensemble of three; a follower loses its links to the others, and its clients lead elections, `size` in each group,
 * each on a session of its own with its own phase: a verdict for each of them. `phase`: how long after a full tick of the
 * ensemble leader's clock the cut comes. Each term must be over, by the clock, before the ensemble expires the session (as its log says) and before a successor is elected.
 * When a machine that paused has left none of a group leading at the cut, all begins anew.
 */
export async function cutFollower(
  size: number,
  groups: readonly Group[] = GROUPS,
  phase: number = PHASES[0],
): Promise<Map<Group, Verdict[]>> {
  for (let tries = 1; tries <= 5; tries++) {
    const verdicts = await cutOnce(size, groups, phase);
    if (verdicts) return verdicts;
  }
  throw new Error("each time no leader of some group led when the follower was cut off");
}

/** Null: of some group nobody led at the cut. */
async function cutOnce(size: number, groups: readonly Group[], phase: number): Promise<Map<Group, Verdict[]> | null> {
  await using ensemble = await startEnsemble({ tickTime: TICK, syncLimit: SYNC_LIMIT });
  const [follower] = (await ensemble.followers()) as [ZooKeeperServer];
  const others = ensemble.servers.filter((server) => server !== follower);
  await using own = new Belongings();
  const elsewhere = zookeeper({ servers: others.map(({ address }) => address), root: "/cut", sessionTimeout: 20_000 });
  const seats = new Map<Group, Promise<Seat[]>>();
  const proxies = new Map<Group, FaultProxy>();
  for (const group of groups) {
    const proxy = own.use(await startProxy(follower.port));
    proxies.set(group, proxy);
    const starts = Array.from({ length: size }, async (_, index) => {
      await sleep((index * group.timeout) / 5 / size);
      const election = fresh(`seat-${index}`);
      const tickTime = group.tickTime === null ? {} : { tickTime: group.tickTime };
      const store = { servers: proxy.address, root: "/cut", sessionTimeout: group.timeout, ...tickTime };
      const leader = own.use(new Candidate({ store, election, id: "leader", work: "until-over" }));
      const { term } = await leader.start().next("elected", 0);
      const successor = own.use(new Candidate({ store: elsewhere, election, id: "successor" }));
      await successor.start().next("standby", 0);
      return { leader, successor, term: term as Term };
    });
    seats.set(group, withSessions(starts, others[0] as ZooKeeperServer));
  }
  const all = new Map<Group, Seat[]>();
  for (const [group, ready] of seats) all.set(group, await ready);
  using pinger = await connectPinger(follower.port);
  await using reader = await connectRaw(follower.address, { sessionTimeout: 40_000 });
  // Long enough for every session to have proofs that no longer lean on its handshake.
  await sleep(4000);

  const held = groups.filter(({ heldBack }) => heldBack).map((group) => proxies.get(group) as FaultProxy);
  const ahead = (held.length > 0 ? 1900 : 0) + 130;
  await sleep(TICK + ((phase - ahead - now()) % TICK));
  for (const proxy of held) proxy.hold("up");
  await sleep(held.length > 0 ? 1900 : 0);
  const confirmed = groups.filter((group) => group.confirmed > 0);
  const twice = groups.filter((group) => group.confirmed === 2);
  await confirmAll(twice, all);
  await sleep(110);
  const samples = new Map<Seat, Samples>();
  for (const seat of [...all.values()].flat()) samples.set(seat, sample(seat.leader));
  for (const proxy of held) proxy.release();
  await Promise.all([sleep(20), confirmAll(confirmed, all)]);
  const cut = now();
  ensemble.cut(follower);
  for (const each of samples.values()) each.ask();
  const ledAt = (seat: Seat) => (samples.get(seat) as Samples).lastTrue > cut;
  if (![...all.values()].every((those) => those.some(ledAt))) {
    for (const each of samples.values()) each.stop();
    ensemble.heal(follower);
    return null;
  }

  const answers = await answersAfter(all, async () => {
    await Promise.all([pinger.ping(), reader.exists("/cut")]);
  });
  const verdicts = new Map<Group, Verdict[]>();
  for (const [group, those] of all) {
    const answered = new Findings();
    answered.must((answers.get(group) ?? 0) > 0, `${group.name}: the follower answered nobody after the seats had been given away`);
    verdicts.set(
      group,
      // Of who was too late for a proof before the cut there is nothing to say.
      those.filter(ledAt).map((seat) => together([judge(seat, samples.get(seat) as Samples, cut, ensemble), answered.verdict()])),
    );
  }
  for (const each of samples.values()) each.stop();
  ensemble.heal(follower);
  return verdicts;
}

/** A session whose requests were held back may have lost patience with its connection: then on the next one. A term that is over cannot be. */
async function confirmAll(groups: readonly Group[], all: Map<Group, Seat[]>): Promise<void> {
  const terms = groups.flatMap((group) => (all.get(group) ?? []).map(({ term }) => term));
  await Promise.all(
    terms.map((term) =>
      term
        .confirm()
        .catch(() => term.confirm())
        .catch(() => {}),
    ),
  );
}

async function withSessions(starts: Promise<Omit<Seat, "session">>[], server: ZooKeeperServer): Promise<Seat[]> {
  const seats = await Promise.all(starts);
  await using raw = await connectRaw(server.address);
  await raw.sync();
  return Promise.all(
    seats.map(async (seat) => {
      const { handle } = seat.term;
      if (!isHandle(handle)) throw new Error("not a seat on ZooKeeper");
      const stat = await raw.exists((handle as ZooKeeperHandle).entryPath);
      return { ...seat, session: stat?.ephemeralOwner ?? 0n };
    }),
  );
}

/** Asks `ask` until every seat has been given away; tells how often it was answered after those of a group had. */
async function answersAfter(all: Map<Group, Seat[]>, ask: () => Promise<void>): Promise<Map<Group, number>> {
  const answers = new Map<Group, number>();
  const isGivenAway = (group: Group) => (all.get(group) ?? []).every(({ successor }) => successor.count("elected") > 0);
  const end = now() + Math.max(...[...all.keys()].map(({ timeout }) => timeout)) + TICK + 3000;
  while (now() < end) {
    const gone = [...all.keys()].filter(isGivenAway);
    const answered = await ask().then(
      () => true,
      () => false,
    );
    for (const group of gone) answers.set(group, (answers.get(group) ?? 0) + (answered ? 1 : 0));
    if (gone.length === all.size && (!answered || [...all.keys()].every((group) => (answers.get(group) ?? 0) > 0))) break;
    await sleep(50);
  }
  return answers;
}

function judge({ leader, successor, session }: Seat, { lastTrue }: Samples, cut: number, ensemble: ZooKeeperEnsemble): Verdict {
  const findings = new Findings();
  const elected = successor.all("elected")[0]?.at;
  const expired = expiryOf(ensemble.servers, session);
  findings.must(elected !== undefined, `${leader.elector.election} got no successor`);
  findings.must(expired !== null, `no log tells the expiry of 0x${session.toString(16)}`);
  const given = Math.min(elected ?? Number.POSITIVE_INFINITY, expired ?? Number.POSITIVE_INFINITY);
  findings.must(lastTrue < given, `isLeader was true ${(lastTrue - given).toFixed(1)} ms after the ensemble had given the seat away`);
  findings.figure("cut after a full tick", cut % TICK);
  findings.figure("led on after the cut", lastTrue - cut);
  findings.figure("expired after the cut", (expired ?? Number.NaN) - cut);
  findings.figure("in hand", given - lastTrue);
  return findings.verdict();
}
