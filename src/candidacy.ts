import { Backoff } from "./backoff.js";
import { sleep } from "./clock.js";
import { Deliveries } from "./deliveries.js";
import { type LostReason, StoppedError, StoreError, TenureError } from "./errors.js";
import type { Events } from "./events.js";
import { ForeignData } from "./foreign-data.js";
import { Halt } from "./halt.js";
import { type Settings, show } from "./options.js";
import { Reign } from "./reign.js";
import { SessionPool } from "./session-pool.js";
import type { SharedSession } from "./shared-session.js";
import { campaign, freshen, guardSeat, leave, ready, type Standing } from "./standing.js";
import { checkChange, type ElectorState } from "./states.js";
import type { Contender, HeldPlace } from "./store.js";
import type { DrainReason, TermPort } from "./term.js";
import { checkReserve, defaultReserve } from "./timing.js";

const RETRY_BASE = 100;
const RETRY_CAP = 2000;
/** Whoever resigned stands again after so many ms: its requests would only keep the server from seating the next one. */
const GIVE_WAY = 10;

/**
 * One elector's run from start to stop, as the recipe: open → contend → look → (moved → look)* → claim, unless held →
 * enter → lead → leave; and again, until stopped. It never waits in the queue while its work runs, and never gives a
 * seat back before that work has settled.
 */
export class Candidacy {
  readonly #settings: Settings;
  readonly #events: Events;
  readonly #deliveries = new Deliveries();
  readonly #pool: SessionPool;
  readonly #foreign = new ForeignData((error) => this.warn(error, "ignored"));
  /** Standing again after a term or a place was lost: full jitter, 100 ms doubling to 2 s; reset by a term of a ttl or more. */
  readonly #again: Backoff;
  readonly #onElected: (term: Reign) => void;
  readonly #stop = new Halt();
  #state: ElectorState;
  #reign: Reign | null = null;
  #session: SharedSession | null = null;

  /** `onElected` is called when the `elected` listeners have been. */
  constructor(settings: Settings, events: Events, from: ElectorState, onElected: (term: Reign) => void) {
    this.#settings = settings;
    this.#events = events;
    this.#state = from;
    this.#onElected = onElected;
    this.#pool = SessionPool.of(settings.store, settings.clock);
    this.#again = new Backoff(settings.clock, RETRY_BASE, RETRY_CAP);
  }

  get state(): ElectorState {
    return this.#state;
  }

  /** The term that is not over, or whose end has not been settled. */
  get reign(): Reign | null {
    return this.#reign;
  }

  get stopping(): boolean {
    return this.#stop.aborted;
  }

  /** Drains the term, if there is one, and does not stand again. */
  stop(reason: DrainReason): void {
    this.#stop.abort(new StoppedError("the elector was stopped"));
    this.#reign?.drain(reason);
  }

  /** Reports something that stops nothing. */
  warn(problem: unknown, what: string): void {
    const error = problem instanceof Error ? problem : new TenureError("warning", `${what}: ${show(problem)}`);
    this.#settings.logger.warn({ election: this.#settings.election, err: error }, `${what}: ${error.message}`);
    this.#deliveries.push(() => this.#events.emit("warning", error, null));
  }

  /** Resolves with null when it was stopped, else with the error that no further try would cure. */
  async run(): Promise<Error | null> {
    let error: Error | null = null;
    let last: Contender | null = null;
    this.#become("connecting");
    while (!this.stopping && !error) {
      try {
        last = await this.#stand(await this.#open(), last);
        if (!this.stopping) this.#become("connecting");
      } catch (problem) {
        if (!this.stopping) error = problem instanceof Error ? problem : new TenureError("failed", show(problem));
      }
    }
    this.#stop.abort(error);
    if (error) this.#settings.logger.error({ election: this.#settings.election, err: error }, `stopped: ${error.message}`);
    await this.#giveBack();
    this.#become("stopped", () => this.#events.emit("stopped", { error }, null));
    await this.#deliveries.idle();
    return error;
  }

  /** The session in use while it is good for another term, else the pool's next. */
  async #open(): Promise<SharedSession> {
    if (this.#session && !this.#session.closing.aborted) return this.#session;
    // Its end is not waited for: the next one may open meanwhile.
    void this.#giveBack();
    const session = await this.#pool.acquire({
      signal: this.#stop,
      stands: true,
      onTrouble: (problem, wait) => this.warn(problem, `no session, next try in ${Math.round(wait)} ms`),
    });
    this.#session = session;
    checkReserve(this.#reserve(session), this.#settings.reserve !== null, session.timing);
    return session;
  }

  async #giveBack(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    if (session) await this.#pool.release(session, { stands: true });
  }

  /** One candidacy, from contend to the end of the withdrawal. Returns it if its entry may still be there. */
  async #stand(session: SharedSession, last: Contender | null): Promise<Contender | null> {
    const { election, card, clock } = this.#settings;
    let failure: { readonly problem: unknown } | null = null as { readonly problem: unknown } | null;
    const standing: Standing = {
      session,
      contender: session.session.contend(election, card, last),
      stop: this.#stop,
      reserve: this.#reserve(session),
      retry: new Backoff(clock, RETRY_BASE, RETRY_CAP),
      heed: (place) => {
        this.#foreign.heed(place);
        if (place.kind !== "held") this.#pool.saw(election, place.seen);
      },
      standby: () => {
        if (this.#state !== "standby") this.#become("standby", () => this.#events.emit("standby", undefined, null));
      },
      trouble: (error) => this.#settings.logger.debug({ election, err: error }, `trying again: ${error.message}`),
      blind: (error) => {
        failure = { problem: error };
        this.warn(error, "the seat cannot be watched: the term ends");
      },
    };
    let outcome: LostReason | null = null;
    try {
      const held = await campaign(standing);
      if (held) outcome = await this.#enter(standing, held);
    } catch (problem) {
      // To be asked here: a withdrawal that is refused, too, closes the session.
      if (!session.closing.aborted && !saysEnded(problem)) failure = { problem };
    }
    if (this.#state !== "leaving") this.#become("leaving");
    const withdrawn = await leave(standing, outcome === "fence-regressed" ? "free" : "hand-over", (error) => {
      if (error) this.warn(error, "cannot withdraw: the entry stays until the session ends");
      this.#pool.stuck(session, error !== null);
    });
    this.#reign = null;
    if (failure) throw failure.problem;
    const pause = outcome === "resigned" ? GIVE_WAY : this.#again.next();
    if (!session.closing.aborted) await sleep(clock, pause, this.#stop);
    return withdrawn ? null : standing.contender;
  }

  /** From a held seat to the end of the term's work. Null: the seat was not entered. */
  async #enter(standing: Standing, held: HeldPlace): Promise<LostReason | null> {
    const { session, contender } = standing;
    const { election, drain } = this.#settings;
    this.#become("entering");
    const highest = this.#pool.highest(election);
    this.#pool.setHighest(election, held.fence);
    // Test: "a fence that fell".
    if (held.fence < highest) {
      const error = `the store gave fence ${held.fence} and this process has seen ${highest}: it was restored or wiped`;
      this.warn(new TenureError("fence-regressed", error), "seat refused");
      return "fence-regressed";
    }
    await freshen(standing);
    // Not ready: the seat is handed on.
    if (!ready(standing)) return null;
    let prepared: Promise<void> = Promise.resolve();
    const prepare = () => {
      prepared = session.attempt("prepare", null, (signal) => contender.prepare(signal)).catch(() => {});
    };
    const reign: Reign = new Reign({
      election,
      held,
      session,
      reserve: standing.reserve,
      drain,
      port: this.#port(() => reign, prepare),
    });
    this.#reign = reign;
    const begun = this.#settings.clock.mono();
    this.#become("leading", () => {
      this.#events.emit("elected", reign, (promise) => reign.run(promise));
      this.#onElected(reign);
    });
    session.adopt(reign);
    void guardSeat(standing, reign);
    const reason = await reign.finished();
    if (this.#settings.clock.mono() - begun >= session.timing.ttl) this.#again.reset();
    await prepared;
    return reason;
  }

  #port(reign: () => Reign, prepare: () => void): TermPort {
    const emit = this.#events.emit.bind(this.#events);
    return {
      suspect: () => {
        const remaining = reign().remaining();
        this.#become("suspect", () => emit("suspect", { term: reign(), remaining }, null));
      },
      restored: () => this.#become("leading", () => emit("restored", { term: reign() }, null)),
      draining: (reason) => {
        this.#become("draining", () => {
          reign().announceDraining();
          emit("draining", { term: reign(), reason }, (promise) => reign().run(promise));
          if (reign().working) prepare();
        });
      },
      over: (reason, cause) => {
        this.#become(reign().working ? "ending" : "leaving", () => {
          reign().announceOver();
          emit("lost", { term: reign(), reason, cause }, null);
          if (reason === "overrun" && this.#settings.overrun === "exit") process.exit(70);
        });
      },
      warn: (error, what) => this.warn(error, what),
      delivered: () => this.#deliveries.idle(),
    };
  }

  #reserve(session: SharedSession): number {
    return this.#settings.reserve ?? defaultReserve(session.timing.ttl);
  }

  /** The one door: every change of state goes through here. `tell` is delivered when all that changes now has changed. */
  #become(state: ElectorState, tell?: () => void): void {
    checkChange(this.#state, state);
    this.#state = state;
    this.#settings.logger.debug({ election: this.#settings.election, state }, state);
    if (tell) this.#deliveries.push(tell);
  }
}

/** A call may say that the session has ended before the session does. */
function saysEnded(problem: unknown): boolean {
  return problem instanceof StoreError && problem.code === "session-ended";
}
