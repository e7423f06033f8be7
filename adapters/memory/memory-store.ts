import type { Clock, Ender } from "../../src/clock.js";
import { ConfigError } from "../../src/errors.js";
import type { Card, OpenRequest, Session, Store } from "../../src/store.js";
import { MemoryClient } from "./memory-client.js";
import { type MemoryCall, MemoryFaults } from "./memory-faults.js";
import { MemoryServer, type MemorySnapshot } from "./memory-server.js";
import { seat } from "./memory-state.js";

export interface MemoryOptions {
  /** The timeout that every session is granted, ms. Default 15000. */
  readonly ttl?: number;
  /**
   * What a proof vouches for. 0 (default): its own sending, as on Consul. More: the sending of the newest request
   * answered at least so many ms before the proof was sent, as on ZooKeeper; touches count that much later, too.
   */
  readonly gap?: number;
  /** For how long a seat refuses claims after the session that held it ended by timeout, ms. Default 0. */
  readonly lockDelay?: number;
  /** How long requests and replies take, each, by the client's clock, ms. Default 0: a turn of the microtask queue. */
  readonly latency?: number;
  /** The server's own clock. Default: that of the first session. */
  readonly clock?: Clock;
}

/**
 * A store in memory: one server, and its clients. It is a store itself (one client of its own); `client()` gives
 * others, independent of each other as processes are. Faults ordered here befall whichever client calls next.
 */
export class MemoryStore extends MemoryFaults implements Store {
  readonly name: string = "memory";
  readonly #server: MemoryServer;
  readonly #latency: number;
  readonly #self: MemoryClient;
  #clients = 0;

  /** Throws `ConfigError`. */
  constructor(options: MemoryOptions = {}) {
    super();
    const { ttl = 15_000, gap = 0, lockDelay = 0, latency = 0, clock = null } = options;
    check("ttl", ttl, ttl > 0);
    check("gap", gap, gap >= 0 && gap < ttl);
    check("lockDelay", lockDelay, lockDelay >= 0);
    check("latency", latency, latency >= 0);
    this.#latency = latency;
    this.#server = new MemoryServer({ ttl, gap, lockDelay, clock });
    this.#self = this.client("memory");
  }

  open(request: OpenRequest, signal: Ender): Promise<Session> {
    return this.#self.open(request, signal);
  }

  /** Another process's way to this store. */
  client(name = `memory-client-${++this.#clients}`): MemoryClient {
    return new MemoryClient(name, this.#server, this.#latency, (call) => this.next(call));
  }

  /** Removes the entries of candidate `id`, as an operator does: in one election or in all. */
  evict(id: string, election?: string): void {
    const elections = election === undefined ? this.#server.elections : [election];
    for (const name of elections) {
      const entries = this.#server.state(name).entries.filter((entry) => entry.card.id === id);
      for (const { guid } of entries) this.#server.remove(name, guid);
    }
  }

  /** Ends a session as its timeout does. */
  expire(session: string): void {
    this.#server.end(session, "timeout");
  }

  /** Makes the server unreachable; sessions do not age meanwhile. */
  stop(): void {
    this.#server.stop();
  }

  /** Makes it reachable again; every session has its full timeout from now on. */
  start(): void {
    this.#server.start();
  }

  /** Puts something there that is not tenure's own; looks say so in `ignored`. */
  inject(election: string, sentence: string): void {
    this.#server.change(election, new Date(0), (state) => ({ next: { ...state, foreign: [...state.foreign, sentence] } }));
  }

  /** Removes what `inject` put there. */
  tidy(election: string): void {
    this.#server.change(election, new Date(0), (state) => ({ next: { ...state, foreign: [] } }));
  }

  /** Writes down a term of somebody who has no entry: whoever held the seat does not any more, though its entry is there. */
  supersede(election: string, card: Card = { id: "somebody", metadata: {} }): void {
    const nobody = { guid: "nobody", session: "none", card };
    this.#server.change(election, new Date(0), (state, stamp) => ({ next: seat(state, nobody, stamp) }));
  }

  /** Deletes everything that is kept of one election, as an operator does. Fences go on rising. */
  deleteElection(election: string): void {
    this.#server.delete(election);
  }

  /** What there is now, for `restore`. */
  snapshot(): MemorySnapshot {
    return this.#server.snapshot();
  }

  /**
   * The server goes down and comes back with what `snapshot` holds: fences and numbers fall back. `"kept"` (default):
   * sessions of the snapshot live on with their full timeout, also those that have ended meanwhile; later ones are
   * unknown. `"lost"`: every session is unknown.
   */
  restore(snapshot: MemorySnapshot, sessions: "kept" | "lost" = "kept"): void {
    this.#server.restore(snapshot, sessions);
  }

  /** How many requests of this kind (of any) have arrived at the server. */
  requests(call?: MemoryCall): number {
    return this.#server.requests(call);
  }

  /** How many sessions the server keeps. */
  get sessions(): number {
    return this.#server.sessions.length;
  }

  /** The server goes down and comes back with nothing: no sessions, entries or terms, and fences start from the lowest. */
  wipe(): void {
    this.#server.restore({ version: 0n, elections: new Map(), sessions: [] }, "lost");
  }
}

/** A store in memory, for tests, demonstrations and single processes. Throws `ConfigError` on an option that cannot be used. */
export function memory(options: MemoryOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

function check(option: string, value: number, holds: boolean): void {
  if (!Number.isFinite(value) || !holds) throw new ConfigError(option, `cannot be ${value} ms`);
}
