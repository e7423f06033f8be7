import { setTimeout as sleep } from "node:timers/promises";
import type { ZooKeeperServer } from "../../test/support/zookeeper-server.js";
import { tenurePeer } from "../node-peer.js";
import type { Peer } from "../peer.js";
import { builds } from "../places.js";
import { say } from "../run.js";
import { PacketCounter } from "../servers.js";
import { tally } from "../table.js";
import { Tap } from "../tap.js";

/** What many elections on one session cost while nothing happens. */
export interface Memory {
  readonly system: string;
  readonly elections: number;
  /** Bytes an election: RSS, and heap with external memory; after garbage collection, minus the same process with one election. */
  readonly waiting: Bytes;
  readonly leading: Bytes;
  readonly idle: Idle;
}

interface Bytes {
  readonly rss: number;
  readonly heap: number;
  /** Taken from the system for the heap, also what of it is free. */
  readonly reserved: number;
}

/** Traffic of the two sessions, one that leads all and one that waits in all. */
export interface Idle {
  readonly seconds: number;
  /** Requests a second, both sessions, by the server's counter. */
  readonly received: number;
  /** Of each session, what passed in that time. */
  readonly leading: Record<string, number>;
  readonly waiting: Record<string, number>;
}

export async function measureMemory(server: ZooKeeperServer, elections: number, inOneTurn: number, seconds: number): Promise<Memory[]> {
  const results: Memory[] = [];
  for (const [index, build] of builds().entries()) {
    const { name } = build;
    const root = `/bench/h${index}`;
    const taps = [await Tap.before(server.port, root), await Tap.before(server.port, root)] as const;
    const [leader, waiter] = taps.map((tap) => {
      const where = { store: "zookeeper", address: `127.0.0.1:${tap.port}`, root, ttl: 30_000 } as const;
      return tenurePeer(name, "tenure-many", build, where, ["--expose-gc"]);
    }) as [Peer, Peer];
    try {
      const counter = await PacketCounter.of(server);
      for (const peer of [leader, waiter]) await peer.ask("open");
      const each = async (peer: typeof leader, wait: () => Promise<unknown>) => {
        const [rss = 0, heap = 0, reserved = 0] = await peer.numbers("memory");
        await wait();
        await sleep(2000);
        const [rssNow = 0, heapNow = 0, reservedNow = 0] = await peer.numbers("memory");
        return { rss: (rssNow - rss) / elections, heap: (heapNow - heap) / elections, reserved: (reservedNow - reserved) / elections };
      };
      const leading = await each(leader, async () => {
        await leader.ask("stand", elections, inOneTurn);
      });
      const waiting = await each(waiter, async () => {
        await waiter.ask("stand", elections, inOneTurn);
      });
      for (const tap of taps) tap.take();
      const received = await counter.during(() => sleep(seconds * 1000));
      const [whileLeading, whileWaiting] = taps.map((tap) => tally(tap.take())) as [Record<string, number>, Record<string, number>];
      const idle = { seconds, received: received / seconds, leading: whileLeading, waiting: whileWaiting };
      results.push({ system: name, elections, waiting, leading, idle });
      const kB = (bytes: number) => (bytes / 1000).toFixed(1);
      say(
        `memory: ${name}: waiting ${kB(waiting.rss)} kB RSS (${kB(waiting.heap)} heap), leading ${kB(leading.rss)} (${kB(leading.heap)})`,
      );
      if (process.env.TENURE_SNAPSHOTS) await waiter.ask("snapshot", `${process.env.TENURE_SNAPSHOTS}/waiting${index}.heapsnapshot`);
    } finally {
      await Promise.all([leader.quit(), waiter.quit()]);
      for (const tap of taps) tap.dispose();
    }
  }
  return results;
}
