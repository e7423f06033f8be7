import type { Clock } from "../../src/clock.js";
import { ConfigError } from "../../src/errors.js";
import type { OpenRequest, Session, Store } from "../../src/store.js";
import { MemoryClient } from "./memory-client.js";
import { MemoryFaults } from "./memory-faults.js";
import { MemoryServer } from "./memory-server.js";

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
  readonly #self: MemoryClient;
  #clients = 0;

  /** Throws `ConfigError`. */
  constructor(options: MemoryOptions = {}) {
    super();
    const { ttl = 15_000, gap = 0, lockDelay = 0, clock = null } = options;
    check("ttl", ttl, ttl > 0);
    check("gap", gap, gap >= 0 && gap < ttl);
    check("lockDelay", lockDelay, lockDelay >= 0);
    this.#server = new MemoryServer({ ttl, gap, lockDelay, clock });
    this.#self = this.client("memory");
  }

  open(request: OpenRequest, signal: AbortSignal): Promise<Session> {
    return this.#self.open(request, signal);
  }

  /** Another process's way to this store. */
  client(name = `memory-client-${++this.#clients}`): MemoryClient {
    return new MemoryClient(name, this.#server, (call) => this.next(call));
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

  /** Loses everything: sessions, entries, terms. Fences start again from the lowest. */
  wipe(): void {
    this.#server.wipe();
  }
}

/** A store in memory, for tests, demonstrations and single processes. Throws `ConfigError` on an option that cannot be used. */
export function memory(options: MemoryOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

function check(option: string, value: number, holds: boolean): void {
  if (!Number.isFinite(value) || !holds) throw new ConfigError(option, `cannot be ${value} ms`);
}
