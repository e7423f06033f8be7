import { installCurator, installKazoo, type JavaPeers } from "./install.js";
import { NODE, tenurePeer } from "./node-peer.js";
import { Peer } from "./peer.js";
import { builds, sources } from "./places.js";

/** One of the libraries that are compared. */
export interface System {
  readonly name: string;
  /**
   * Starts its process; its candidates reach the server at `address`, and keep to the paths below `root`. What it asks in
   * order to see whether all stand again goes to `observed` (default: the same).
   */
  start(address: string, root: string, observed?: string): Peer;
}

/** Session timeout of every system, ms. */
export const TTL = 15_000;
/** What the others are compared with. */
export const REFERENCE = "Curator LeaderLatch";

export async function allSystems(): Promise<System[]> {
  const java = await installCurator();
  const python = await installKazoo();
  const curator =
    (kind: string): System["start"] =>
    (address, root, observed = address) =>
      javaPeer(java, `Curator ${kind}`, "CuratorPeer", [kind, address, root, String(TTL), observed]);
  const kazoo =
    (kind: string): System["start"] =>
    (address, root, observed = address) => {
      const args = [`${sources}/kazoo_peer.py`, kind, address, root, String(TTL), observed];
      return new Peer(`kazoo ${kind}`, { command: python, args });
    };
  return [
    ...builds().map(
      (build): System => ({
        name: build.name,
        start: (address, root) => tenurePeer(build.name, "tenure-hand", build, { store: "zookeeper", address, root, ttl: TTL }, NODE),
      }),
    ),
    { name: REFERENCE, start: curator("latch") },
    { name: "Curator LeaderSelector", start: curator("selector") },
    { name: "kazoo Lock", start: kazoo("lock") },
    { name: "kazoo Election", start: kazoo("election") },
  ];
}

/** A Java program of bench/peers. */
export function javaPeer({ command, classpath }: JavaPeers, name: string, main: string, args: readonly string[]): Peer {
  return new Peer(name, { command, args: ["-Xmx1g", "-cp", classpath, main, ...args] });
}
