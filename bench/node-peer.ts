import { Peer } from "./peer.js";
import { type Build, program } from "./places.js";

/** What a store's candidates of tenure are given. */
export interface Where {
  readonly store: "zookeeper" | "consul";
  readonly address: string;
  /** All elections lie below. */
  readonly root: string;
  /** Of the sessions, ms. */
  readonly ttl: number;
}

/** Extra arguments for the Node processes of tenure, such as --cpu-prof. */
export const NODE = (process.env.TENURE_NODE_ARGS ?? "").split(" ").filter(Boolean);

/** A program of bench/peers in a Node process. */
export function nodePeer(name: string, file: string, args: readonly (string | number)[], node: readonly string[] = []): Peer {
  return new Peer(name, { command: process.execPath, args: [...node, program(file), ...args.map(String)] });
}

/** One that runs candidates of a build of tenure: `node FILE DIST STORE ADDRESS ROOT TTL`. */
export function tenurePeer(name: string, file: string, { dist }: Build, where: Where, node: readonly string[] = []): Peer {
  return nodePeer(name, file, [dist, where.store, where.address, where.root, where.ttl], node);
}
