import type { BlockingQuery, Found, NewSession, Operation, Result } from "../../../adapters/consul/client/consul-wire.js";
import type { Clock, Timer } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import { ModelState } from "./model-state.js";

/** A query that waits for its index to pass. */
interface Waiting {
  readonly query: BlockingQuery;
  /** Whether the key, or any under it, was there when it came. */
  readonly present: boolean;
  answer(found: Found): void;
}

/** A Consul with one leader: sessions that expire after twice their ttl, blocking queries, and what befalls a leader. */
export class ModelServer {
  readonly state = new ModelState();
  readonly clock: Clock;
  /** Called after each request that was served. */
  onAct: () => void = () => {};
  readonly #roll: () => number;
  readonly #timers = new Map<string, Timer>();
  readonly #waiting = new Set<Waiting>();
  readonly #frozen: (() => void)[] = [];
  #up = true;
  #isFrozen = false;
  #sessions = 0;

  constructor(clock: Clock, roll: () => number) {
    this.clock = clock;
    this.#roll = roll;
  }

  /** There is no leader: everything is answered with 500, and no session expires. The next one gives all a fresh time. */
  set up(up: boolean) {
    if (up === this.#up) return;
    this.#up = up;
    for (const id of this.state.sessions.keys()) {
      this.#timers.get(id)?.cancel();
      if (up) this.#arm(id);
    }
    if (!up) for (const each of [...this.#waiting]) this.#end(each);
  }

  get up(): boolean {
    return this.#up;
  }

  /** Whatever is asked is swallowed until it goes on; then it is done, whether somebody waits for it or not. */
  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const act of this.#frozen.splice(0)) act();
  }

  /** Runs `act` as a request of a client. */
  serve(act: () => void, refuse: (error: StoreError) => void): void {
    if (!this.#up) return refuse(new StoreError("rejected", "500 No cluster leader"));
    if (this.#isFrozen) this.#frozen.push(act);
    else act();
    this.onAct();
  }

  createSession({ ttl, lockDelay }: NewSession): string {
    const id = `${String(++this.#sessions).padStart(8, "0")}-0000-4000-8000-${Math.floor(this.#roll() * 1e12)
      .toString()
      .padStart(12, "0")}`;
    this.state.createSession({ id, ttl, lockDelay });
    this.#arm(id);
    return id;
  }

  renew(id: string): boolean {
    if (!this.state.sessions.has(id)) return false;
    this.#arm(id);
    return true;
  }

  destroy(id: string): void {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    this.state.destroySession(id, this.clock.mono());
    this.#wake();
  }

  transact(operations: readonly Operation[]): Result[] {
    try {
      return this.state.transact(operations, this.clock.mono());
    } finally {
      this.#wake();
    }
  }

  /** As an operator. */
  change(act: (state: ModelState) => void): void {
    act(this.state);
    this.#wake();
  }

  /** Returns what forgets it. */
  query(query: BlockingQuery, answer: (found: Found) => void): () => void {
    const now = this.state.find(query.key, query.recurse);
    if (query.index === 0 || now.index > query.index) {
      answer(now);
      return () => {};
    }
    const waiting: Waiting = { query, present: now.entries.length > 0, answer };
    this.#waiting.add(waiting);
    const timer = this.clock.after(query.wait * (1 + this.#roll() / 16), () => this.#end(waiting));
    return () => {
      timer.cancel();
      this.#waiting.delete(waiting);
    };
  }

  #end(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) waiting.answer(this.state.find(waiting.query.key, waiting.query.recurse));
  }

  #wake(): void {
    for (const waiting of [...this.#waiting]) {
      const { key, recurse, index } = waiting.query;
      const now = this.state.find(key, recurse);
      const there = now.entries.length > 0;
      // A single key that is missing is not woken by others; an empty prefix is.
      if (now.index > index && (recurse || there || waiting.present)) this.#end(waiting);
    }
  }

  #arm(id: string): void {
    this.#timers.get(id)?.cancel();
    const { ttl } = this.state.sessions.get(id) as { ttl: number };
    this.#timers.set(
      id,
      this.clock.after(2 * ttl, () => this.destroy(id)),
    );
  }
}
