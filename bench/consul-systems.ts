import { benchApiLock } from "../test/support/api-lock.js";
import { type ConsulServer, startConsul } from "../test/support/consul-server.js";
import { NODE, tenurePeer } from "./node-peer.js";
import type { Peer } from "./peer.js";
import { type Build, builds } from "./places.js";

/** Of the sessions of every system, ms; the lock-delay is 1 s. */
export const TTL = 15_000;
export const LOCK_DELAY = 1_000;
/** What tenure is compared with. */
export const REFERENCE = "api.Lock (Go)";
/** Not counted, at the beginning of each chunk. */
const WARM_UP = 5;

/** For the report: test/support/consul-server-config.ts. */
export const SERVER_KIND = "one server, raft_multiplier 1, its data on disk";

/** A Consul of a part's own. Without `limit` no number of connections is too many. */
export function startServer(limit = 10_000): Promise<ConsulServer> {
  return startConsul({ maxConnections: limit });
}

/** Consecutive clean hand-overs among candidates that have joined for them, a session and connections for each. */
export interface Chunk {
  readonly candidates: number;
  readonly handOvers: number;
  /** How long each leads, ms; tenure's from when the one before it stands again. */
  readonly hold: number;
}

/** One of the libraries that are compared. */
export interface System {
  readonly name: string;
  /**
   * ms of each, from the call to leave to the next one's code. `window` is opened when the first that counts is about to begin, and
   * closed when all that the last one has set off is over.
   */
  chunk(chunk: Chunk, window?: Window): Promise<number[]>;
  quit(): Promise<void>;
}

/** Something that is watched during the hand-overs that count. */
export interface Window {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** All of them, on the server at `address`. */
export function allSystems(address: string): System[] {
  return [...builds().map((build, index) => tenure(build, address, `bench/s${index}`)), apiLock(address, "bench/api-lock")];
}

/** Candidates of tenure, in one process of their own that lives for all chunks. */
export function tenure(build: Build, address: string, root: string): System {
  const peer = tenurePeer(build.name, "tenure-hand", build, { store: "consul", address, root, ttl: TTL }, NODE);
  let compiled: Promise<unknown> | undefined;
  return {
    name: build.name,
    async chunk({ candidates, handOvers, hold }, window) {
      await (compiled ??= compile(peer));
      await peer.ask("stand", candidates, candidates, "at-once", "none");
      await peer.ask("hand", WARM_UP, hold);
      await window?.open();
      const times = await peer.numbers("hand", handOvers, hold);
      await window?.close();
      await peer.ask("leave");
      return times;
    },
    quit: () => peer.quit(),
  };
}

/** The first hand-overs of a process wait for its compiler; Go's has done its work. */
async function compile(peer: Peer): Promise<void> {
  await peer.ask("stand", 2, 2, "at-once", "none");
  await peer.ask("hand", 300, 1);
  await peer.ask("leave");
}

/** Candidates of Go's api.Lock, in a process of their own for each chunk. */
export function apiLock(address: string, key: string): System {
  return {
    name: REFERENCE,
    async chunk({ candidates, handOvers, hold }, window) {
      const times: number[] = [];
      const watching: Promise<void>[] = [];
      // The herd of a hand-over has settled in the second half of the next one's hold, and that one does not leave before its end.
      const inHold = (action: () => Promise<void>) => setTimeout(() => watching.push(action()), hold * 0.7);
      const options = { n: candidates, rounds: handOvers, warmup: WARM_UP, hold, ttl: `${TTL}ms`, delay: `${LOCK_DELAY}ms` };
      await benchApiLock(address, key, options, (event) => {
        if (event.event === "begin" && window) inHold(() => window.open());
        if (event.event !== "hand-over") return;
        if (event.from === event.to) throw new Error(`api.Lock: candidate ${event.to} has overtaken those that wait: hold longer`);
        times.push(event.ns / 1e6);
        if (times.length === handOvers && window) inHold(() => window.close());
      });
      await Promise.all(watching);
      if (times.length !== handOvers) throw new Error(`api.Lock: ${times.length} of ${handOvers} hand-overs`);
      return times;
    },
    quit: async () => {},
  };
}

/** Ends what sessions are left: api.Lock's process does not wait until its have gone, and their ends would fall into what is measured next. */
export async function endSessions(server: ConsulServer): Promise<void> {
  const sessions = await server.ask<{ ID: string }[]>("GET", "/v1/session/list");
  for (const { ID } of sessions) await server.ask("PUT", `/v1/session/destroy/${ID}`);
}
