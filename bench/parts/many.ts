import type { ZooKeeperServer } from "../../test/support/zookeeper-server.js";
import { installCurator } from "../install.js";
import { nodePeer, tenurePeer } from "../node-peer.js";
import { builds } from "../places.js";
import { say } from "../run.js";
import { PacketCounter } from "../servers.js";
import { type Spread, spread } from "../statistics.js";
import { javaPeer } from "../systems.js";
import { type Moved, Pair, type PairOptions } from "./pair.js";

/** All elections of one process handed to another; `counted`: requests that the server received. */
export interface Many extends Moved {
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

/** Hand-overs of everything and the anchors take turns. */
export async function measureMany(server: ZooKeeperServer, options: PairOptions): Promise<ManyResult> {
  const { elections, rounds } = options;
  const writers = [
    { name: "node-zookeeper-client", peer: nodePeer("writes", "writes", [server.address, "/bench/writes"]) },
    { name: "ZooKeeper's Java client", peer: javaPeer(await installCurator(), "Writes", "Writes", [server.address, "/bench/writes"]) },
  ];
  const counter = await PacketCounter.of(server);
  const pairs = builds().map((build, index) => {
    const where = { store: "zookeeper", address: server.address, root: `/bench/m${index}`, ttl: 30_000 } as const;
    return new Pair(build.name, () => tenurePeer(build.name, "tenure-many", build, where, ["--expose-gc"]), options);
  });
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
  const handedOver = pairs.map((pair): Many => {
    const moved = pair.result();
    return { ...moved, ratio: moved.p50 / anchor.p50 };
  });
  return { handedOver, anchors: found, anchor };
}
