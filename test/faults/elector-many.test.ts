import { expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { type Leader, observe } from "../../src/index.js";
import { expire } from "../support/expire-session.js";
import { fresh } from "../support/names.js";
import { startProxy } from "../support/proxy.js";
import { until } from "../support/wait-for.js";
import { startEnsemble } from "../support/zookeeper-ensemble.js";
import { Belongings } from "./support/belongings.js";
import { Candidate } from "./support/candidate.js";

const server = inject("zookeeper");
const port = Number(server.split(":")[1]);

/** Each `elected` is followed by its `lost`, and by no other before. */
function grammar({ told }: Candidate): string {
  return told
    .map(({ what }) => what)
    .filter((what) => what === "elected" || what === "lost")
    .join(" ");
}
const PAIRS = /^(elected lost( |$))*$/;

it("2,000 elections share one session and one connection, and move elsewhere together when it ends by force", {
  timeout: 600_000,
}, async () => {
  const COUNT = 2000;
  await using proxy = await startProxy(port);
  await using belongings = new Belongings();
  const root = `/${fresh("many")}`;
  const open = (address: string) => zookeeper({ servers: address, root, sessionTimeout: 20_000 });
  const [here, there] = [open(proxy.address), open(server)];
  const stand = (store: typeof here, id: string) =>
    Array.from({ length: COUNT }, (_, index) => belongings.use(new Candidate({ store, election: `e${index}`, id })));
  const ours = stand(here, "ours");
  for (const each of ours) each.start();
  await until(() => ours.every(({ isLeader }) => isLeader), { timeout: 120_000, every: 50, what: "ours lead all" });
  const theirs = stand(there, "theirs");
  for (const each of theirs) each.start();
  const waiting = ({ elector }: Candidate) => elector.state === "standby";
  await until(() => theirs.every(waiting), { timeout: 120_000, every: 50, what: "theirs wait in all" });
  // On a machine that pauses the session may have gone on to another connection, of which the proxy heard before the end of the one before.
  expect([proxy.sessions().length, proxy.connections]).toEqual([1, 1]);
  const connected = proxy.requests("connect");
  expect(connected).toBeLessThan(10);

  // As soon as one has been told, none of ours leads: they die together.
  let leading = -1;
  ours[0]?.elector.once("lost", () => {
    leading = ours.filter(({ isLeader }) => isLeader).length;
  });
  const [session] = proxy.sessions();
  await expire(server, session as NonNullable<typeof session>);
  await until(() => theirs.every(({ isLeader }) => isLeader), { timeout: 120_000, every: 50, what: "all are led elsewhere" });
  await until(() => ours.every(waiting), { timeout: 120_000, every: 50, what: "all of ours stand again" });
  expect(leading).toBe(0);
  expect(ours.flatMap(({ told }) => told.filter(({ what }) => what === "lost").map(({ reason }) => reason))).toEqual(
    Array.from({ length: COUNT }, () => "session-ended"),
  );
  // One after the other: the old session is tried once more, and the end of its connection may reach the proxy after the next begins.
  expect([proxy.sessions().length, proxy.connections]).toEqual([2, 1]);
  expect(proxy.mostConnections).toBeLessThanOrEqual(2);
  expect(proxy.requests("connect") - connected).toBeLessThan(10);
  expect([...ours, ...theirs].flatMap((each) => each.all("warning").map(({ error }) => error?.message))).toEqual([]);
});

it("a hundred electors and their observers come through lost watches, moved sessions, and a restart of each server in turn", {
  timeout: 600_000,
}, async () => {
  await using ensemble = await startEnsemble({ tickTime: 500 });
  await using belongings = new Belongings();
  const proxies = await Promise.all(ensemble.servers.map(async (one) => belongings.use(await startProxy(one.port))));
  const addresses = proxies.map(({ address }) => address);
  const root = `/${fresh("hundred")}`;
  const open = () => zookeeper({ servers: addresses.join(","), root, sessionTimeout: 10_000 });
  const seats = Array.from({ length: 10 }, (_, index) => `seat-${index}`);
  const electors: Candidate[] = [];
  for (let process = 0; process < 10; process++) {
    const store = open();
    for (const election of seats) electors.push(belongings.use(new Candidate({ store, election, id: `p${process}` }).start()));
  }
  const watching = open();
  const observers = seats.map((election) => belongings.use(observe(watching, election)));
  const seen = observers.map((observer) => {
    const leaders: (Leader | null)[] = [];
    observer.on("change", (leader) => void leaders.push(leader));
    return leaders;
  });
  const leaderOf = (election: string) => electors.filter((each) => each.elector.election === election && each.isLeader);
  const right = () =>
    seats.every((election, index) => {
      const [leader, ...others] = leaderOf(election);
      const current = observers[index]?.current;
      return (
        leader !== undefined && others.length === 0 && current?.id === leader.elector.id && current.fence === leader.elector.term?.fence
      );
    }) && electors.every(({ elector, isLeader }) => isLeader || elector.state === "standby");
  const settled = (what: string) => until(right, { timeout: 60_000, every: 20, what: `one leader each, as observed, after ${what}` });

  await settled("the start");
  const moveOn = () => {
    for (const election of seats) leaderOf(election)[0]?.elector.resign();
  };
  for (const proxy of proxies) proxy.cut();
  moveOn();
  await settled("watches were lost");
  // Whoever is on this server has to take its session to another one.
  for (const proxy of proxies) {
    await proxy.refuse();
    proxy.cut();
    moveOn();
    await settled("sessions have moved");
    await proxy.accept();
  }
  const leading = await ensemble.leader();
  for (const one of [...ensemble.servers.filter((each) => each !== leading), leading]) {
    await one.stop();
    moveOn();
    await one.start();
    await settled("a server was restarted");
  }
  for (const [index, leaders] of seen.entries()) {
    expect(leaders.at(-1)?.id).toBe(leaderOf(seats[index] as string)[0]?.elector.id);
    const fences = leaders.flatMap((leader) => (leader ? [leader.fence] : []));
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => (a < b ? -1 : 1)));
  }
  await Promise.all(electors.map((each) => each.stop()));
  for (const each of electors) expect(grammar(each)).toMatch(PAIRS);
  const fences = electors.flatMap((each) => each.all("elected").map(({ term }) => `${each.elector.election} ${term?.fence}`));
  expect(new Set(fences).size).toBe(fences.length);
});
