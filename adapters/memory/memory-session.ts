import type { Ender } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import type { Card, Contender, Evicted, Leader, Proof, Seen, Session, Standing, Survey } from "../../src/store.js";
import { MemoryContender } from "./memory-contender.js";
import type { MemoryCall } from "./memory-faults.js";
import type { Link } from "./memory-link.js";
import type { MemoryServer } from "./memory-server.js";
import { type ElectionState, EMPTY, find, holder, replace, type Term } from "./memory-state.js";
import { entryKey, termKey } from "./memory-watches.js";

/** A session on the memory store. */
export class MemorySession implements Session {
  readonly id: string;
  readonly ttl: number;
  readonly gap: number;
  readonly server: MemoryServer;
  readonly link: Link;
  readonly #ended = new AbortController();
  readonly #onEnd: () => void;
  #contenders = 0;

  constructor(server: MemoryServer, link: Link, granted: { id: string; ttl: number; gap: number }, onEnd: () => void) {
    this.server = server;
    this.link = link;
    this.id = granted.id;
    this.ttl = granted.ttl;
    this.gap = granted.gap;
    this.#onEnd = onEnd;
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  async prove(signal: Ender): Promise<Proof> {
    const vouchedAt = this.link.answers.vouchedAt();
    await this.request("prove", signal, () => {});
    return { vouchedAt };
  }

  async touch(signal: Ender): Promise<null> {
    await this.request("touch", signal, () => {});
    return null;
  }

  contend(election: string, card: Card, replaces: Contender | null): Contender {
    const guid = `${this.id}/${++this.#contenders}`;
    return new MemoryContender(this, { election, card, guid, replaces: replaces instanceof MemoryContender ? replaces : null });
  }

  leader(election: string, signal: Ender): Promise<Leader | null> {
    return this.request("leader", signal, () => leaderOf(this.read(election)));
  }

  queue(election: string, signal: Ender): Promise<Standing[]> {
    return this.request("queue", signal, () => {
      const state = this.read(election);
      // Only the lowest entry claims, and a seat is handed to the next one only: the holder is always the first.
      const first = holder(state);
      return state.entries.map((entry) => ({ ...entry.card, entry: entry.guid, leading: entry === first, session: entry.session }));
    });
  }

  changed(election: string, seen: Leader | null, signal: Ender): Promise<void> {
    return this.link.watch("changed", signal, () => {
      this.attend();
      const state = this.visible(election);
      if (leaderOf(state)?.fence !== seen?.fence) return null;
      const seated = holder(state);
      return seated ? [termKey(election), entryKey(seated.guid)] : [termKey(election)];
    });
  }

  elections(signal: Ender): Promise<string[] | null> {
    return this.request("elections", signal, () => this.server.elections.filter((name) => this.read(name) !== EMPTY));
  }

  survey(election: string, signal: Ender): Promise<Survey | null> {
    return this.request("survey", signal, () => {
      const state = this.read(election);
      if (state.entries.length === 0 && state.term === null) return null;
      const leader = leaderOf(state);
      return { leader, waiting: state.entries.length - (leader ? 1 : 0) };
    });
  }

  evict(election: string, { entry, leading }: Seen, stead: Card | null, signal: Ender): Promise<Evicted | null> {
    const guid = `${this.id}/instead of ${entry}`;
    return this.request("evict", signal, () => {
      const state = this.server.state(election);
      // An earlier attempt has done it.
      if (stead && find(state, guid)) return { stead: guid };
      const removed = find(state, entry);
      if (!removed || (holder(state) === removed) !== leading) return null;
      const added = stead ? { guid, session: this.id, card: stead } : undefined;
      this.server.change(election, new Date(0), () => ({ next: replace(state, entry, added), removed, ...(added && { added }) }));
      this.link.saw(this.server.version);
      return { stead: added?.guid ?? null };
    });
  }

  async close(signal: Ender): Promise<void> {
    try {
      await this.request("close", signal, () => this.server.end(this.id, "closed"));
    } finally {
      this.finish(new StoreError("session-ended", `session ${this.id} was closed`));
    }
  }

  abandon(): void {
    this.finish(new StoreError("session-ended", `session ${this.id} was abandoned`));
  }

  /** One attempt on this session; whatever it is, it shows the server that the session lives. */
  request<T>(call: MemoryCall, signal: Ender, serve: () => T, read?: boolean): Promise<T> {
    return this.link.call(
      call,
      signal,
      () => {
        this.attend();
        return serve();
      },
      read,
    );
  }

  /** At the server: a request of this session arrived. Throws `session-ended`. */
  attend(): void {
    // A replica that is cut off does not know that the session has ended elsewhere.
    if (!this.link.stranded) this.server.lease(this.id).touch();
  }

  /** The connection was made anew: the server knows the session again, or says that it is over. */
  reattach(): void {
    try {
      this.server.lease(this.id).restart();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.link.tell(() => this.finish(error));
    }
  }

  /** At the server: touches that lie at a replica are not passed on. */
  forgetTouches(): void {
    if (this.server.sessions.includes(this.id)) this.server.lease(this.id).forgetTouches();
  }

  /** At the server that serves this client: what a watch is set on. */
  visible(election: string): ElectionState {
    return this.link.stranded ? this.read(election) : this.server.state(election);
  }

  /** At the server: what a read shows of `election`. */
  read(election: string): ElectionState {
    return this.server.state(election, this.link.readable());
  }

  /** Over, for whatever reason: the object is dead. */
  finish(error: StoreError): void {
    if (this.#ended.signal.aborted) return;
    this.link.die(error);
    this.#onEnd();
    this.#ended.abort(error);
  }
}

function leaderOf(state: ElectionState): Leader | null {
  const term: Term | null = holder(state) ? state.term : null;
  return term && { ...term.card, number: term.number, fence: term.fence, since: term.since };
}
