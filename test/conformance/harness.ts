import { setMaxListeners } from "node:events";
import { elapsed, instant, sleep, systemClock } from "../../src/clock.js";
import type { Card, Contender, HeldPlace, Place, Session, Store } from "../../src/store.js";
import { fresh } from "../support/names.js";
import { PATIENCE } from "../support/wait-for.js";

/** What the suite needs of a kind of store. */
export interface Harness {
  /**
   * A client of its own, as another process would have. `long`: its sessions outlast the pauses of a slow machine; `short`: they expire
   * within a test.
   */
  newStore(life: "long" | "short"): Promise<Store>;
  /** How much longer than its ttl an abandoned session of a short life may last, ms. */
  readonly expiryDelay: number;
  /** As an operator: removes the entry of candidate `id`. */
  evict(election: string, id: string): Promise<void>;
  /** As an operator: removes everything that is kept of this election. */
  wipeElection(election: string): Promise<void>;
  /** Puts something that is not tenure's where elections are kept. */
  litter(name: string): Promise<void>;
  /** A client of its own where nobody has ever held an election. */
  newPlace(): Promise<Store>;
  /** As an operator: ends a session that one of these stores has opened. */
  expire(session: Session): Promise<void>;
  dispose(): Promise<void>;
}

/** One candidacy in a test, with the last place that it saw. */
export class Candidate {
  readonly id: string;
  readonly session: Session;
  readonly contender: Contender;
  readonly #signal: AbortSignal;
  place: Place | null = null;

  constructor(id: string, session: Session, contender: Contender, signal: AbortSignal) {
    this.id = id;
    this.session = session;
    this.contender = contender;
    this.#signal = signal;
  }

  async look(): Promise<Place> {
    this.place = await this.contender.look(this.#signal);
    return this.place;
  }

  /** Waits until the last place may have changed. */
  async moved(): Promise<void> {
    if (!this.place) throw new Error("look first");
    await this.contender.moved(this.place, this.#signal);
  }

  /** Takes the seat, which must be free and this candidate's to take (it may be under a lock-delay). */
  async claim(): Promise<HeldPlace> {
    for (;;) {
      const place = await this.look();
      if (place.kind !== "head") throw new Error(`${this.id} is not head but ${place.kind}`);
      const claimed = await this.contender.claim(place, this.#signal);
      if (claimed.kind === "held") {
        this.place = claimed;
        return claimed;
      }
      await new Promise((resolve) => systemClock.after(claimed.wait, () => resolve(null)));
    }
  }

  /** The seat must be this candidate's already. */
  async held(): Promise<HeldPlace> {
    const place = await this.look();
    if (place.kind !== "held") throw new Error(`${this.id} does not hold the seat but is ${place.kind}`);
    return place;
  }

  async withdraw(how: "hand-over" | "free" = "hand-over"): Promise<void> {
    await this.contender.withdraw(how, this.#signal);
  }
}

/** What one test makes, and the clearing up. */
export class World {
  readonly harness: Harness;
  /** Used by no other test. */
  readonly election = fresh("election");
  readonly #patience = new AbortController();
  readonly #timer = systemClock.after(2 * PATIENCE, () => this.#patience.abort(new Error(`no answer in ${2 * PATIENCE} ms`)));
  readonly #sessions = new Set<Session>();
  readonly #over = new AbortController();
  readonly #life: "long" | "short";

  constructor(harness: Harness, life: "long" | "short" = "long") {
    this.harness = harness;
    this.#life = life;
    // Shared by all calls of a test. Whether any of them leaves a listener behind is tested call by call.
    setMaxListeners(0, this.#patience.signal, this.#over.signal);
  }

  /** For attempts that are not to be aborted: it aborts when one hangs, so that the test fails. */
  get signal(): AbortSignal {
    return this.#patience.signal;
  }

  /** A session of a process of its own, kept alive by touches until the test is over. */
  async open(): Promise<Session> {
    const session = await this.openIdle();
    const keep = () => {
      if (this.#over.signal.aborted || session.ended.aborted) return;
      void session.touch(this.#over.signal).catch(() => {});
      systemClock.after(session.ttl / 5, keep);
    };
    keep();
    return session;
  }

  /** A session of a process of its own that sends only what the test sends. */
  async openIdle(store?: Store): Promise<Session> {
    store ??= await this.harness.newStore(this.#life);
    const session = await store.open({ clock: systemClock }, this.signal);
    this.#sessions.add(session);
    return session;
  }

  /** A candidacy that has sent nothing yet. */
  async contend(id: string, session?: Session, metadata: Card["metadata"] = {}): Promise<Candidate> {
    const on = session ?? (await this.open());
    return new Candidate(id, on, on.contend(this.election, { id, metadata }, null), this.signal);
  }

  /** A candidate that has joined. */
  async join(id: string, session?: Session, metadata: Card["metadata"] = {}): Promise<Candidate> {
    const candidate = await this.contend(id, session, metadata);
    await candidate.look();
    return candidate;
  }

  /** One candidate after the other joins; the first takes the seat. */
  async line(...ids: string[]): Promise<Candidate[]> {
    const candidates: Candidate[] = [];
    for (const id of ids) {
      const candidate = await this.join(id);
      if (candidates.length === 0) await candidate.claim();
      candidates.push(candidate);
    }
    return candidates;
  }

  /** The ids in the queue, as `session` sees it; the one who leads in brackets. */
  async queue(session: Session): Promise<string> {
    const queue = await session.queue(this.election, this.signal);
    return queue.map(({ id, leading }) => (leading ? `[${id}]` : id)).join(" ");
  }

  async dispose(): Promise<void> {
    this.#over.abort(new Error("the test is over"));
    await Promise.all([...this.#sessions].map((session) => (session.ended.aborted ? null : session.close(this.signal).catch(() => {}))));
    this.#timer.cancel();
  }
}

/** The longest that a touch takes, one after the other until `over`: what a slow machine, or one that pauses, does to any bound, ms. */
export async function longestTouch(session: Session, over: Outcome, signal: AbortSignal): Promise<number> {
  let longest = 0;
  for (let from = instant(systemClock); !over.settled; from = instant(systemClock)) {
    await session.touch(signal);
    await sleep(systemClock, 10, signal);
    longest = Math.max(longest, elapsed(systemClock, from));
  }
  return longest;
}

/** Tells whether a promise has settled. */
export class Outcome {
  settled = false;
  error: unknown = undefined;
  readonly promise: Promise<void>;

  constructor(promise: Promise<unknown>) {
    this.promise = promise.then(
      () => {
        this.settled = true;
      },
      (error: unknown) => {
        this.settled = true;
        this.error = error;
      },
    );
  }
}
