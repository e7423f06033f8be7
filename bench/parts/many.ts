import { setTimeout as sleep } from "node:timers/promises";
import type { ZooKeeperServer } from "../../test/support/zookeeper-server.js";
import { installCurator } from "../install.js";
import { say } from "../run.js";
import { PacketCounter } from "../servers.js";
import { median, type Spread, spread } from "../statistics.js";
import { javaPeer, nodePeer, tenures } from "../systems.js";

/** All elections of one process handed to another. */
export interface Many extends Spread {
  readonly system: string;
  readonly elections: number;
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

/** `rounds` times: everything from A to B, then the anchors; each round also back again. The first round warms up. */
export async function measureMany(server: ZooKeeperServer, elections: number, rounds: number): Promise<ManyResult> {
  const writers = [
    { name: "node-zookeeper-client", peer: nodePeer("writes", "writes", [server.address, "/bench/writes"]) },
    { name: "ZooKeeper's Java client", peer: javaPeer(await installCurator(), "Writes", "Writes", [server.address, "/bench/writes"]) },
  ];
  const counter = await PacketCounter.of(server);
  const node = ["--expose-gc", ...(process.env.TENURE_NODE_ARGS ?? "").split(" ").filter(Boolean)];
  const pairs = tenures().map(({ name, dist }, index) => {
    const start = (side: string) => nodePeer(`${name} ${side}`, "tenure-many", [dist, server.address, `/bench/m${index}`], node);
    return {
      name,
      a: start("A"),
      b: start("B"),
      times: [] as number[],
      stopped: [] as number[],
      cpu: [[], []] as [number[], number[]],
      received: [] as number[],
    };
  });
  const anchors = new Map<string, number[]>();
  try {
    for (const { a, b } of pairs) for (const peer of [a, b]) await peer.ask("open");
    for (let round = 0; round <= rounds; round++) {
      for (const pair of pairs) {
        if (round === 0) {
          await pair.a.ask("stand", elections);
          await pair.a.ask("lead", elections);
        }
        for (const [from, to] of [[pair.a, pair.b] as const, [pair.b, pair.a] as const]) {
          await to.ask("stand", elections);
          await to.ask("standby", elections);
          await sleep(1500);
          const [before = 0] = await to.numbers("cpu");
          let led: number[] = [];
          let stopped: number[] = [];
          const received = await counter.during(async () => {
            [led, stopped] = await Promise.all([to.numbers("lead", elections), from.numbers("stop")]);
          });
          const [after = 0] = await to.numbers("cpu");
          const [last = 0, count = 0] = led;
          const [began = 0, ended = 0, used = 0] = stopped;
          if (count !== elections) throw new Error(`${pair.name}: ${count} of ${elections} elections are led`);
          say(`many: ${pair.name}, ${elections} elections: ${Math.round(last - began)} ms (${received} packets)`);
          if (round === 0) continue;
          pair.times.push(last - began);
          pair.stopped.push(ended - began);
          pair.cpu[0].push(used);
          pair.cpu[1].push(after - before);
          pair.received.push(received / elections);
        }
      }
      for (const { name, peer } of writers) {
        for (const connections of WAYS) {
          const [ms = 0] = await peer.numbers("write", 2 * elections, connections);
          const way = `${name}, ${connections} connection${connections > 1 ? "s" : ""}`;
          if (round > 0) anchors.set(way, [...(anchors.get(way) ?? []), ms]);
        }
      }
    }
  } finally {
    await Promise.all([...writers.map(({ peer }) => peer.quit()), ...pairs.flatMap(({ a, b }) => [a.quit(), b.quit()])]);
  }
  const found = [...anchors]
    .map(([way, times]): Anchor => ({ way, writes: 2 * elections, ...spread(times) }))
    .sort((x, y) => x.p50 - y.p50);
  const anchor = found[0] as Anchor;
  const handedOver = pairs.map(({ name, times, stopped, cpu, received }): Many => {
    const times_ = spread(times);
    const ratio = times_.p50 / anchor.p50;
    return {
      system: name,
      elections,
      ...times_,
      untilStopped: median(stopped),
      cpu: [median(cpu[0]), median(cpu[1])],
      received: median(received),
      ratio,
    };
  });
  say(`many: anchor ${anchor.p50.toFixed(0)} ms for ${anchor.writes} writes (${anchor.way})`);
  return { handedOver, anchors: found, anchor };
}
