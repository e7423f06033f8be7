import type { Clock } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import type { MemoryCall } from "./memory-faults.js";
import { History } from "./memory-history.js";
import { Lease } from "./memory-lease.js";
import { type ElectionState, EMPTY, type Entry, find, holder, leave, type Stamp } from "./memory-state.js";
import { entryKey, termKey, Watches } from "./memory-watches.js";

/** What a change does to entries, so that sessions and watches can follow. */
export interface Change {
  readonly next: ElectionState;
  readonly added?: Entry;
  readonly removed?: Entry;
}

/** The client's end of a session, for what the server tells without being asked. */
export interface Peer {
  /** The session has ended. */
  ended(error: StoreError): void;
  /** The server went away: whatever was under way is lost. */
  disconnected(): void;
  /** The server is back. */
  reconnected(): void;
}

/** What a server held at one moment. */
export interface MemorySnapshot {
  readonly version: bigint;
  readonly elections: ReadonlyMap<string, ElectionState>;
  readonly sessions: readonly string[];
}

/** The state that all clients share: sessions and their expiry, elections and their versions, watches. */
export class MemoryServer {
  readonly watches = new Watches();
  /** Counts every change of anything, as ZooKeeper's zxid and Consul's raft index do. */
  version = 0n;
  running = true;
  readonly gap: number;
  readonly #ttl: number;
  readonly #lockDelay: number;
  #clock: Clock | null;
  #opened = 0;
  readonly #leases = new Map<string, Lease>();
  readonly #peers = new Map<string, Peer>();
  readonly #history = new History();
  readonly #lockedUntil = new Map<string, number>();
  readonly #counts = new Map<MemoryCall, number>();

  constructor(options: { ttl: number; gap: number; lockDelay: number; clock: Clock | null }) {
    this.gap = options.gap;
    this.#ttl = options.ttl;
    this.#lockDelay = options.lockDelay;
    this.#clock = options.clock;
  }

  /** Opens a session; `clock` becomes the server's own unless it has one. */
  open(clock: Clock, peer: Peer): Lease {
    this.#clock ??= clock;
    this.version++;
    const lease = this.#grant(`memory-${++this.#opened}`, this.#clock);
    this.#peers.set(lease.id, peer);
    return lease;
  }

  /** The lease of a session that sent something; throws `session-ended`. */
  lease(id: string): Lease {
    if (this.#leases.get(id)?.overdue) this.end(id, "timeout");
    const lease = this.#leases.get(id);
    if (!lease) throw new StoreError("session-ended", `session ${id} is over`);
    return lease;
  }

  /** Ends a session: its entries go, and their watches fire. A timeout locks the seats that it held for a while. */
  end(id: string, how: "timeout" | "closed" | "destroyed"): void {
    const lease = this.#leases.get(id);
    if (!lease) return;
    lease.stop();
    this.#leases.delete(id);
    this.version++;
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

  /** What is kept of `election`: now, or as of a version. */
  state(election: string, at?: bigint): ElectionState {
    return at === undefined ? this.#history.now(election) : this.#history.at(election, at);
  }

  /** Changes an election in one step, with one new version; `since` is the writer's wall clock. */
  change(election: string, since: Date, decide: (state: ElectionState, stamp: Stamp) => Change): void {
    const before = this.state(election);
    const version = this.version + 1n;
    const { next, added, removed } = decide(before, { version, since });
    if (next === before) return;
    this.version = version;
    this.#history.add(election, version, next);
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

  /** Removes everything that is kept of an election. */
  delete(election: string): void {
    for (const { guid } of this.state(election).entries) this.remove(election, guid);
    this.change(election, new Date(0), () => ({ next: EMPTY }));
  }

  /** How long the free seat still refuses claims, ms. */
  refusesFor(election: string): number {
    const until = this.#lockedUntil.get(election);
    return until === undefined ? 0 : Math.max(0, until - this.#now());
  }

  get elections(): string[] {
    return this.#history.elections;
  }

  get sessions(): string[] {
    return [...this.#leases.keys()];
  }

  count(call: MemoryCall): void {
    this.#counts.set(call, this.requests(call) + 1);
  }

  requests(call?: MemoryCall): number {
    if (call) return this.#counts.get(call) ?? 0;
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Unreachable from now on; sessions do not age. */
  stop(): void {
    if (!this.running) return;
    for (const peer of [...this.#peers.values()]) peer.disconnected();
    this.running = false;
    for (const lease of this.#leases.values()) lease.stop();
  }

  /** Reachable again; every session has its full timeout from now on. */
  start(): void {
    if (this.running) return;
    this.running = true;
    for (const lease of this.#leases.values()) lease.restart();
    for (const peer of [...this.#peers.values()]) peer.reconnected();
  }

  snapshot(): MemorySnapshot {
    const elections = new Map(this.elections.map((election) => [election, this.state(election)] as const));
    return { version: this.version, elections, sessions: this.sessions };
  }

  restore(snapshot: MemorySnapshot, sessions: "kept" | "lost"): void {
    const { running } = this;
    this.stop();
    const kept = sessions === "kept" ? new Set(snapshot.sessions) : new Set<string>();
    for (const id of this.sessions) if (!kept.has(id)) this.end(id, "destroyed");
    this.#history.clear();
    this.#lockedUntil.clear();
    this.version = snapshot.version;
    const clock = this.#clock;
    if (clock) for (const id of kept) if (!this.#leases.has(id)) this.#grant(id, clock).stop();
    for (const id of kept) this.#leases.get(id)?.entries.clear();
    for (const [election, state] of snapshot.elections) {
      const entries = state.entries.filter((entry) => kept.has(entry.session));
      this.#history.add(election, snapshot.version, { ...state, entries });
      for (const entry of entries) this.#leases.get(entry.session)?.entries.set(entry.guid, election);
    }
    if (running) this.start();
  }

  #grant(id: string, clock: Clock): Lease {
    // The latest that a touch may be passed on while proofs still hold what they promise.
    const relay = Math.max(this.gap - 100, this.gap / 2);
    const lease = new Lease(id, this.#ttl, relay, clock, () => this.end(id, "timeout"));
    this.#leases.set(id, lease);
    return lease;
  }

  #lock(election: string): void {
    if (this.#lockDelay > 0) this.#lockedUntil.set(election, this.#now() + this.#lockDelay);
  }

  #now(): number {
    return this.#clock?.mono() ?? 0;
  }
}
