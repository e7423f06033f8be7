import { setTimeout as sleep } from "node:timers/promises";
import type { ZooKeeperServer } from "../../test/support/zookeeper-server.js";
import { installCurator } from "../install.js";
import type { Peer } from "../peer.js";
import { say } from "../run.js";
import { PacketCounter } from "../servers.js";
import { median, type Spread, spread } from "../statistics.js";
import { javaPeer, nodePeer, tenures } from "../systems.js";

/** All elections of one process handed to another. */
export interface Many extends Spread {
  readonly system: string;
  readonly elections: number;
  /** Not what is judged: ms for one process to lead all where nobody stands, and for the other to stand by in all. */
  readonly joined: readonly [number, number];
  /** ms until the leaving process has nothing left at the store. */
  readonly untilStopped: number;
  /** Processor time of the one that leaves, and of the one that takes over, ms. */
  readonly cpu: readonly [number, number];
  /** Requests an election that the server received meanwhile, upkeep of both sessions included. */
  readonly received: number;
  /** To the anchor's time. */
  readonly ratio: number;
}

/** Ways to write one after the other, pipelined, and the ms that `writes` took. */
export interface Anchor extends Spread {
  readonly way: string;
  readonly writes: number;
}

export interface ManyResult {
  readonly handedOver: readonly Many[];
  readonly anchors: readonly Anchor[];
  /** The quickest of them by its median. */
  readonly anchor: Anchor;
}

const WAYS = [1, 4, 8];
/** A folder for the profiles of the last hand-over, of both sides. */
const profiles = process.env.TENURE_PROFILES;

export interface ManyOptions {
  readonly elections: number;
  /** So many candidacies begin in one turn of the event loop, when all are prepared. */
  readonly inOneTurn: number;
  /** Each hands all over, and back again; one more before them warms up. */
  readonly rounds: number;
}

/** Hand-overs of everything and the anchors take turns. */
export async function measureMany(server: ZooKeeperServer, options: ManyOptions): Promise<ManyResult> {
  const { elections, rounds } = options;
  const writers = [
    { name: "node-zookeeper-client", peer: nodePeer("writes", "writes", [server.address, "/bench/writes"]) },
    { name: "ZooKeeper's Java client", peer: javaPeer(await installCurator(), "Writes", "Writes", [server.address, "/bench/writes"]) },
  ];
  const counter = await PacketCounter.of(server);
  const pairs = tenures().map(({ name, dist }, index) => new Pair(name, dist, server.address, `/bench/m${index}`, options));
  const anchors = new Map<string, number[]>();
  try {
    for (const pair of pairs) await pair.open();
    for (let round = 0; round <= rounds; round++) {
      for (const pair of pairs) await pair.thereAndBack(counter, round);
      for (const { name, peer } of writers) {
        for (const connections of WAYS) {
          const [ms = 0] = await peer.numbers("write", 2 * elections, connections);
          const way = `${name}, ${connections} connection${connections > 1 ? "s" : ""}`;
          if (round > 0) anchors.set(way, [...(anchors.get(way) ?? []), ms]);
        }
      }
    }
  } finally {
    await Promise.all([...writers.map(({ peer }) => peer.quit()), ...pairs.map((pair) => pair.quit())]);
  }
  const found = [...anchors].map(([way, times]): Anchor => ({ way, writes: 2 * elections, ...spread(times) }));
  found.sort((a, b) => a.p50 - b.p50);
  const anchor = found[0] as Anchor;
  say(`many: anchor ${anchor.p50.toFixed(0)} ms for ${anchor.writes} writes (${anchor.way})`);
  return { handedOver: pairs.map((pair) => pair.result(anchor)), anchors: found, anchor };
}

/** Two processes of one build. */
class Pair {
  readonly #name: string;
  readonly #options: ManyOptions;
  readonly #a: Peer;
  readonly #b: Peer;
  readonly #times = { taken: [] as number[], stopped: [] as number[], waiting: [] as number[], from: [] as number[], to: [] as number[] };
  readonly #received: number[] = [];
  #leading = 0;

  constructor(name: string, dist: string, address: string, root: string, options: ManyOptions) {
    const start = (side: string) => nodePeer(`${name} ${side}`, "tenure-many", [dist, address, root], ["--expose-gc"]);
    this.#name = name;
    this.#options = options;
    this.#a = start("A");
    this.#b = start("B");
  }

  /** A leads all. */
  async open(): Promise<void> {
    for (const peer of [this.#a, this.#b]) await peer.ask("open");
    [this.#leading = 0] = await this.#stand(this.#a);
  }

  async thereAndBack(counter: PacketCounter, round: number): Promise<void> {
    await this.#handOver(this.#a, this.#b, counter, round);
    await this.#handOver(this.#b, this.#a, counter, round);
  }

  result(anchor: Anchor): Many {
    const { taken, stopped, waiting, from, to } = this.#times;
    return {
      system: this.#name,
      elections: this.#options.elections,
      ...spread(taken),
      joined: [this.#leading, median(waiting)],
      untilStopped: median(stopped),
      cpu: [median(from), median(to)],
      received: median(this.#received),
      ratio: median(taken) / anchor.p50,
    };
  }

  async quit(): Promise<void> {
    await Promise.all([this.#a.quit(), this.#b.quit()]);
  }

  async #handOver(from: Peer, to: Peer, counter: PacketCounter, round: number): Promise<void> {
    const { elections, rounds } = this.#options;
    const [waiting = 0] = await this.#stand(to);
    // Watches are set after a candidate has been told that it waits.
    await sleep(1500);
    const profiled = profiles !== undefined && round === rounds;
    if (profiled) for (const peer of [from, to]) await peer.ask("profile");
    const [before = 0] = await to.numbers("cpu");
    let led: number[] = [];
    let stopped: number[] = [];
    const received = await counter.during(async () => {
      [led, stopped] = await Promise.all([to.numbers("lead", elections), from.numbers("stop")]);
      await sleep(500);
    });
    const [after = 0] = await to.numbers("cpu");
    const file = (side: string) => `${profiles}/many-${side}-${this.#name.replace("/", "-")}.cpuprofile`;
    if (profiled) for (const [side, peer] of Object.entries({ from, to })) await peer.ask("profile", file(side));
    const [last = 0] = led;
    const [leaders = 0, told = 0] = await to.numbers("leaders");
    const [began = 0, ended = 0, used = 0] = stopped;
    if (leaders !== elections) throw new Error(`${this.#name}: ${leaders} of ${elections} elections are led`);
    if (told !== elections) say(`many: ${this.#name}: ${told} terms of ${elections} elections: some were lost meanwhile`);
    say(`many: ${this.#name}, ${elections} elections: ${Math.round(last - began)} ms (${received} packets)`);
    if (round === 0) return;
    this.#times.taken.push(last - began);
    this.#times.stopped.push(ended - began);
    this.#times.waiting.push(waiting);
    this.#times.from.push(used);
    this.#times.to.push(after - before);
    this.#received.push(received / elections);
  }

  #stand(peer: Peer): Promise<number[]> {
    return peer.numbers("stand", this.#options.elections, this.#options.inOneTurn);
  }
}
