import type { Clock } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import { Lease } from "./memory-lease.js";
import { EMPTY, type ElectionState, type Entry, find, holder, leave, type Stamp } from "./memory-state.js";
import { Watches } from "./memory-watches.js";

/** How far back a lagging replica may show an election. */
const HISTORY = 32;

/** What a change does to entries, so that sessions and watches can follow. */
export interface Change {
  readonly next: ElectionState;
  readonly added?: Entry;
  readonly removed?: Entry;
}

/** The end of a connection at the server: what the server tells without being asked. */
export interface Peer {
  /** The session of this connection has ended. */
  ended(error: StoreError): void;
  /** The server went away: whatever was under way is lost. */
  disconnected(): void;
  /** The server is back. */
  reconnected(): void;
}

/** The state that all clients share: sessions and their expiry, elections and their versions, watches. */
export class MemoryServer {
  readonly watches = new Watches();
  /** Counts every change of anything, as ZooKeeper's zxid or Consul's raft index do. */
  version = 0n;
  running = true;
  readonly ttl: number;
  readonly gap: number;
  readonly lockDelay: number;
  #clock: Clock | null;
  #sessions = 0;
  readonly #leases = new Map<string, Lease>();
  readonly #peers = new Map<string, Peer>();
  readonly #history = new Map<string, { readonly version: bigint; readonly state: ElectionState }[]>();
  readonly #lockedUntil = new Map<string, number>();

  constructor(options: { ttl: number; gap: number; lockDelay: number; clock: Clock | null }) {
    this.ttl = options.ttl;
    this.gap = options.gap;
    this.lockDelay = options.lockDelay;
    this.#clock = options.clock;
  }

  /** Opens a session; `clock` becomes the server's own unless it has one. */
  open(clock: Clock, peer: Peer): Lease {
    this.#clock ??= clock;
    this.version++;
    const id = `memory-${++this.#sessions}`;
    // The latest that a session's touches may be passed on while proofs still hold what they promise.
    const relay = Math.max(this.gap - 100, this.gap / 2);
    const lease = new Lease(id, this.ttl, relay, this.#clock, () => this.end(id, "timeout"));
    this.#leases.set(id, lease);
    this.#peers.set(id, peer);
    return lease;
  }

  /** The lease of a session that sent something; throws `session-ended`. */
  lease(id: string): Lease {
    const lease = this.#leases.get(id);
    if (lease?.overdue) this.end(id, "timeout");
    if (!lease || !this.#leases.has(id)) throw new StoreError("session-ended", `session ${id} is over`);
    return lease;
  }

  /** Ends a session: its entries go, and their watches fire. A timeout locks the seats that it held for a while. */
  end(id: string, how: "timeout" | "closed" | "destroyed"): void {
    const lease = this.#leases.get(id);
    if (!lease) return;
    lease.stop();
    this.#leases.delete(id);
    for (const [guid, election] of [...lease.entries]) {
      if (how === "timeout" && holder(this.state(election))?.guid === guid) this.#lock(election);
      this.remove(election, guid);
    }
    const peer = this.#peers.get(id);
    this.#peers.delete(id);
    // Whoever closes its session is told by the reply.
    if (how === "closed") return;
    const why = how === "timeout" ? "was not heard of for its timeout" : `was ${how}`;
    peer?.ended(new StoreError("session-ended", `session ${id} ${why}`));
  }

  /** What was kept of `election` at version `at` (now, if not given). */
  state(election: string, at: bigint = this.version): ElectionState {
    const history = this.#history.get(election) ?? [];
    for (let index = history.length - 1; index > 0; index--) {
      const kept = history[index];
      if (kept && kept.version <= at) return kept.state;
    }
    const oldest = history[0];
    if (!oldest) return EMPTY;
    return oldest.version <= at || history.length === HISTORY ? oldest.state : EMPTY;
  }

  /** Changes an election in one step, with one new version; `since` is the writer's wall clock. */
  change(election: string, since: Date, decide: (state: ElectionState, stamp: Stamp) => Change): void {
    const before = this.state(election);
    const version = this.version + 1n;
    const { next, added, removed } = decide(before, { version, since });
    if (next === before) return;
    this.version = version;
    const history = this.#history.get(election) ?? [];
    this.#history.set(election, history);
    history.push({ version, state: next });
    if (history.length > HISTORY) history.shift();
    if (added) this.#leases.get(added.session)?.entries.set(added.guid, election);
    if (removed) this.#leases.get(removed.session)?.entries.delete(removed.guid);
    if (removed) this.watches.fire(entryKey(removed.guid));
    if (next.term !== before.term) this.watches.fire(termKey(election));
  }

  /** Removes an entry, if it is there. */
  remove(election: string, guid: string): void {
    this.change(election, new Date(0), (state) => {
      const removed = find(state, guid);
      return removed ? { next: leave(state, guid), removed } : { next: state };
    });
  }

  /** How long the free seat still refuses claims, ms. */
  refusesFor(election: string): number {
    return Math.max(0, (this.#lockedUntil.get(election) ?? 0) - (this.#clock?.mono() ?? 0));
  }

  get elections(): string[] {
    return [...this.#history.keys()];
  }

  get sessions(): string[] {
    return [...this.#leases.keys()];
  }

  /** Unreachable from now on; sessions do not age. */
  stop(): void {
    this.running = false;
    for (const lease of this.#leases.values()) lease.stop();
    for (const peer of [...this.#peers.values()]) peer.disconnected();
  }

  /** Reachable again; every session has its full timeout from now on. */
  start(): void {
    this.running = true;
    for (const lease of this.#leases.values()) lease.restart();
    for (const peer of [...this.#peers.values()]) peer.reconnected();
  }

  /** Everything is lost: elections, sessions, and the versions start again from nothing. */
  wipe(): void {
    for (const id of this.sessions) this.end(id, "destroyed");
    for (const election of this.elections) {
      for (const { guid } of this.state(election).entries) this.remove(election, guid);
    }
    this.#history.clear();
    this.#lockedUntil.clear();
    this.version = 0n;
  }

  #lock(election: string): void {
    if (this.lockDelay > 0) this.#lockedUntil.set(election, (this.#clock?.mono() ?? 0) + this.lockDelay);
  }
}

export function entryKey(guid: string): string {
  return `entry/${guid}`;
}

export function termKey(election: string): string {
  return `term/${election}`;
}
