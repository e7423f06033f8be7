import { installCurator, installKazoo, type JavaPeers } from "./install.js";
import { Peer } from "./peer.js";
import { builds, program, sources } from "./places.js";

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

/** Extra arguments for the Node processes of tenure, such as --cpu-prof. */
const NODE = (process.env.TENURE_NODE_ARGS ?? "").split(" ").filter(Boolean);

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
    ...tenures().map(
      ({ name, dist }): System => ({
        name,
        start: (address, root) => nodePeer(name, "tenure-hand", [dist, address, root, String(TTL)], NODE),
      }),
    ),
    { name: REFERENCE, start: curator("latch") },
    { name: "Curator LeaderSelector", start: curator("selector") },
    { name: "kazoo Lock", start: kazoo("lock") },
    { name: "kazoo Election", start: kazoo("election") },
  ];
}

export const tenures = builds;

/** A program of bench/peers in a Node process. */
export function nodePeer(name: string, file: string, args: readonly string[], node: readonly string[] = []): Peer {
  return new Peer(name, { command: process.execPath, args: [...node, program(file), ...args] });
}

/** A Java program of bench/peers. */
export function javaPeer({ command, classpath }: JavaPeers, name: string, main: string, args: readonly string[]): Peer {
  return new Peer(name, { command, args: ["-Xmx1g", "-cp", classpath, main, ...args] });
}
