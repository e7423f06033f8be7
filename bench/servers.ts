import { freePort } from "../test/support/free-port.js";
import { prepareZooKeeper, type ZooKeeperServer } from "../test/support/zookeeper-server.js";

/** As in production, where the servers of the tests save time: it waits for the disk, the JVM compiles well, the tick is the usual one. */
const TICK = 2000;
const JVM = ["-Xmx1g", "-XX:TieredStopAtLevel=4", "-Dzookeeper.forceSync=yes"];

/** For the report. */
export const SERVER_KIND = `tickTime ${TICK}, fsync on, -Xmx1g`;

/** A standalone server. */
export async function startServer(): Promise<ZooKeeperServer> {
  const server = await prepareZooKeeper({ tickTime: TICK, jvm: JVM });
  await server.start();
  return server;
}

/** Three servers that talk to each other directly: the tests' ensemble sends every write through this process. */
export async function startThree(): Promise<{ servers: ZooKeeperServer[]; follower: ZooKeeperServer }> {
  const peers: Record<string, string> = {};
  for (let id = 1; id <= 3; id++) peers[`server.${id}`] = `127.0.0.1:${await freePort()}:${await freePort()}`;
  const config = { initLimit: 10, syncLimit: 5, ...peers };
  const servers: ZooKeeperServer[] = [];
  for (let myid = 1; myid <= 3; myid++) servers.push(await prepareZooKeeper({ tickTime: TICK, jvm: JVM, config, myid }));
  await Promise.all(servers.map((server) => server.start({ serving: false })));
  await Promise.all(servers.map((server) => server.serving()));
  for (const server of servers) if ((await server.mode()) === "follower") return { servers, follower: server };
  throw new Error("the ensemble has no follower");
}

/** Counts what a server receives by its own figure (`mntr`, zk_packets_received), without what asking for it costs. */
export class PacketCounter {
  readonly what = "packets";
  readonly #server: ZooKeeperServer;
  readonly #own: number;

  private constructor(server: ZooKeeperServer, own: number) {
    this.#server = server;
    this.#own = own;
  }

  /** Calibrates: asks twice in a row, several times; the least difference is what one asking adds. */
  static async of(server: ZooKeeperServer): Promise<PacketCounter> {
    const differences: number[] = [];
    for (let i = 0; i < 5; i++) {
      const before = await received(server);
      differences.push((await received(server)) - before);
    }
    return new PacketCounter(server, Math.min(...differences));
  }

  /** Packets received during `action`. */
  async during(action: () => Promise<unknown>): Promise<number> {
    const before = await received(this.#server);
    await action();
    return (await received(this.#server)) - before - this.#own;
  }
}

async function received(server: ZooKeeperServer): Promise<number> {
  return Number((await server.mntr()).zk_packets_received);
}
