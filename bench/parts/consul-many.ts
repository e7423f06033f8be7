import { setTimeout as sleep } from "node:timers/promises";
import type { ConsulServer } from "../../test/support/consul-server.js";
import { type HttpProxy, startHttpProxy } from "../../test/support/http-proxy.js";
import { lastRenewal } from "../consul-renewals.js";
import { LOCK_DELAY, startServer, TTL } from "../consul-systems.js";
import { tenurePeer } from "../node-peer.js";
import type { Peer } from "../peer.js";
import { type Build, builds } from "../places.js";
import { say } from "../run.js";
import { CRASH_TTL } from "./consul-crash.js";
import { type Counter, type Moved, Pair, type PairOptions } from "./pair.js";

/** What passes by proxies while all elections go from one process to another. */
export interface ManyTraffic {
  readonly system: string;
  readonly elections: number;
  /** Open at once at most, of either process. */
  readonly connections: number;
  /** Answered by 429. */
  readonly refused: number;
  /** An election, for one hand-over; upkeep of both sessions included. */
  readonly requests: number;
}

/** After the process that led all was killed. */
export interface ManyCrash {
  readonly system: string;
  readonly elections: number;
  /** ms from the end of its session plus the delay until all were led elsewhere, in each round. */
  readonly late: readonly number[];
}

export interface ConsulManyResult {
  /** `counted`: raft entries. */
  readonly handedOver: readonly Moved[];
  readonly traffic: readonly ManyTraffic[];
  readonly crashes: readonly ManyCrash[];
}

/** The agents' default limit of connections from one address. */
export const CONNECTION_LIMIT = 200;

/** Of each build: hand-overs that are timed, one that is watched by proxies, and crashes. */
export async function measureConsulMany(options: PairOptions, crashes: number): Promise<ConsulManyResult> {
  const server = await startServer(CONNECTION_LIMIT);
  try {
    const handedOver: Moved[] = [];
    const traffic: ManyTraffic[] = [];
    const found: ManyCrash[] = [];
    for (const [index, build] of builds().entries()) {
      handedOver.push(await timed(server, build, `bench/m${index}`, options));
      traffic.push(await watched(server, build, `bench/w${index}`, options));
      found.push(await crashed(server, build, `bench/c${index}`, options, crashes));
    }
    return { handedOver, traffic, crashes: found };
  } finally {
    await server.dispose();
  }
}

async function timed(server: ConsulServer, build: Build, root: string, options: PairOptions): Promise<Moved> {
  const pair = new Pair(build.name, () => many(build, server.address, root, TTL), options);
  const entries: Counter = {
    what: "raft entries",
    async during(action) {
      const before = await server.raftIndex();
      await action();
      return (await server.raftIndex()) - before;
    },
  };
  try {
    await pair.open();
    for (let round = 0; round <= options.rounds; round++) await pair.thereAndBack(entries, round);
    return pair.result();
  } finally {
    await pair.quit();
  }
}

async function watched(server: ConsulServer, build: Build, root: string, options: PairOptions): Promise<ManyTraffic> {
  const proxies = { A: await startHttpProxy(server.ports.http), B: await startHttpProxy(server.ports.http) };
  const both = Object.values(proxies);
  const all = () => both.flatMap(({ requests }) => requests);
  const pair = new Pair(build.name, (side) => many(build, proxies[side].address, root, TTL), options);
  const passed: Counter = {
    what: "requests",
    async during(action) {
      const before = all().length;
      await action();
      return all().length - before;
    },
  };
  try {
    await pair.open();
    await pair.thereAndBack(passed, 1);
    const connections = Math.max(...both.map(({ mostConnections }) => mostConnections));
    const refused = all().filter(({ status }) => status === 429).length;
    say(`many: ${build.name}: at most ${connections} connections of a process, ${refused} requests refused`);
    return { system: build.name, elections: options.elections, connections, refused, requests: pair.result().counted };
  } finally {
    await pair.quit();
    for (const proxy of both) await proxy.dispose();
  }
}

async function crashed(server: ConsulServer, build: Build, root: string, options: PairOptions, rounds: number): Promise<ManyCrash> {
  const late: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const proxy = await startHttpProxy(server.ports.http);
    const leader = many(build, proxy.address, `${root}-${round}`, CRASH_TTL);
    const next = many(build, server.address, `${root}-${round}`, CRASH_TTL);
    try {
      late.push(await crashOf(leader, next, proxy, options));
      say(`many: ${build.name}, crash ${round} of ${rounds}: all led ${late.at(-1)?.toFixed(0)} ms after the session's end and the delay`);
    } finally {
      await Promise.all([leader.kill(), next.quit()]);
      await proxy.dispose();
    }
  }
  return { system: build.name, elections: options.elections, late };
}

async function crashOf(leader: Peer, next: Peer, proxy: HttpProxy, { elections, inOneTurn }: PairOptions): Promise<number> {
  const [, leading = 0] = await leader.numbers("stand", elections, inOneTurn);
  if (leading !== elections) throw new Error(`${leading} of ${elections} elections are led before the crash`);
  await next.ask("stand", elections, inOneTurn);
  // Until it has renewed its session, and at a random phase of the next renewals.
  await sleep(3000 + Math.random() * 3000);
  const led = next.numbers("lead", elections);
  await leader.kill();
  const [last = 0] = await led;
  return last - (lastRenewal(proxy) + 2 * CRASH_TTL + LOCK_DELAY);
}

function many(build: Build, address: string, root: string, ttl: number): Peer {
  return tenurePeer(build.name, "tenure-many", build, { store: "consul", address, root, ttl }, ["--expose-gc"]);
}
