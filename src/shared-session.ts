import type { Clock, Ender, Timer } from "./clock.js";
import { Deadline } from "./deadline.js";
import { type LostReason, StoreError } from "./errors.js";
import { Prover } from "./prover.js";
import { SessionCalls } from "./session-calls.js";
import type { Proof, Session } from "./store.js";
import { type Timing, timingOf } from "./timing.js";

/** What a session knows of a term that is held on it. */
export interface Seat {
  /** ms before the deadline at which its admission closes. */
  readonly reserve: number;
  /** Whether work of the term has not settled. */
  readonly working: boolean;
  /** Drains or ends what is due; returns the ms until it wants to be asked again. */
  check(): number;
  end(reason: LostReason, cause: unknown): void;
  suspect(): void;
  restored(): void;
}

/**
 * One session of a store as the electors on it share it: its deadline, the terms held on it, and how it ends.
 *
 * It ends in two steps. *Closing*: its deadline has passed under a term; no more terms are entered, withdrawals still go
 * out. *Over*: nothing is sent any more. If work was still running when the deadline passed, both come at once: nothing
 * that we send may then give the seat away, nor keep it (DESIGN section 4; test: "a session past its deadline …").
 */
export class SharedSession {
  readonly session: Session;
  readonly clock: Clock;
  readonly timing: Timing;
  /** Until when the store cannot have given away a seat held on this session; moves with each proof. */
  readonly deadline = new Deadline();
  readonly #calls: SessionCalls;
  readonly #prover: Prover;
  readonly #closing = new AbortController();
  /** Terms that are not over. */
  readonly #live = new Set<Seat>();
  /** Terms that are over and whose work has not settled. */
  readonly #unsettled = new Set<Seat>();
  #reserve = 0;
  #over = false;
  #turnProof: Promise<void> | null = null;
  #suspect = false;
  #watch: Timer | null = null;
  #watchDue = Number.POSITIVE_INFINITY;

  constructor(session: Session, clock: Clock) {
    this.session = session;
    this.clock = clock;
    this.timing = timingOf(session);
    this.#calls = new SessionCalls(clock, this.timing.ttl, { check: () => void this.#pastDeadline(), left: () => this.#left() });
    this.#prover = new Prover(clock, this.timing.interval, {
      leading: () => {
        this.check();
        return this.#live.size > 0;
      },
      send: (kind) => (kind === "proof" ? this.prove() : this.#touch()),
      overdue: () => this.#overdue(),
    });
    const onEnded = () => this.#finish("session-ended", session.ended.reason);
    if (session.ended.aborted) onEnded();
    else session.ended.addEventListener("abort", onEnded, { once: true });
    this.#arm(this.timing.ttl);
  }

  /** Aborts when no term can be entered on this session any more. */
  get closing(): Ender {
    return this.#closing.signal;
  }

  /** Whether nothing can be sent any more. */
  get over(): boolean {
    return this.#over;
  }

  /** One attempt, bounded by half of what is left; ends when the session closes. */
  attempt<T>(what: string, signal: Ender | null, call: (signal: Ender) => Promise<T>): Promise<T> {
    return this.#calls.attempt(what, signal, call);
  }

  /** A wait of any length; ends when the session closes. */
  wait<T>(signal: Ender | null, call: (signal: Ender) => Promise<T>): Promise<T> {
    return this.#calls.wait(signal, call);
  }

  /** One attempt that only the end of the session ends: for withdrawals. */
  farewell<T>(what: string, call: (signal: Ender) => Promise<T>): Promise<T> {
    return this.#calls.farewell(what, call);
  }

  /** A wait that only the end of the session ends. */
  farewellWait(call: (signal: Ender) => Promise<void>): Promise<void> {
    return this.#calls.farewellWait(call);
  }

  /** A fresh proof; those asked for in one turn of the event loop are one. */
  prove(): Promise<void> {
    if (!this.#turnProof) {
      this.#turnProof = this.#prove();
      queueMicrotask(() => {
        this.#turnProof = null;
      });
    }
    return this.#turnProof;
  }

  /** Milliseconds until the deadline; 0 or less when it has passed. */
  remaining(): number {
    return this.deadline.remaining(this.clock);
  }

  /** From now on `seat` lives by this session's proofs. */
  adopt(seat: Seat): void {
    this.#live.add(seat);
    this.#reserve = Math.max(this.#reserve, seat.reserve);
    this.#arm(seat.check());
  }

  /** The term of `seat` is over; its work may still run. */
  seatOver(seat: Seat): void {
    if (!this.#live.delete(seat)) return;
    this.#unsettled.add(seat);
    if (this.#live.size > 0) return;
    this.#reserve = 0;
    this.#suspect = false;
  }

  /** The work of `seat` has settled. */
  seatSettled(seat: Seat): void {
    this.#unsettled.delete(seat);
  }

  /** Does what is due: deadlines, reserves, silence (tests: drain.test.ts; "a session without a reply for its ttl …"). */
  check(): void {
    if (this.#over) return;
    const { silence } = this.#calls;
    if (silence <= 0)
      return this.#finish("session-ended", new StoreError("session-ended", "no server answered for as long as the session lives"));
    let next = silence;
    if (!this.#pastDeadline()) for (const seat of [...this.#live]) next = Math.min(next, seat.check());
    this.#watchDue = Number.POSITIVE_INFINITY;
    this.#arm(next);
  }

  /** Ends the session at the store; for when nobody uses it any more. */
  async close(): Promise<void> {
    if (this.#over) return;
    const closed = new StoreError("session-ended", "the session was closed");
    this.#close(closed);
    // If it fails, the store ends it by its timeout; nothing of ours is left on it.
    await this.farewell("close", (signal) => this.session.close(signal)).catch(() => {});
    this.#finish("session-ended", closed);
  }

  async #prove(): Promise<void> {
    this.#vouched(await this.#calls.vital("proof", (signal) => this.session.prove(signal)));
  }

  async #touch(): Promise<void> {
    const proof = await this.#calls.vital("touch", (signal) => this.session.touch(signal));
    // It spares the next leader the proof before its term (test: "a touch that vouches …").
    if (proof) this.#vouched(proof);
  }

  #vouched({ vouchedAt }: Proof): void {
    // A late reply revives nothing, nor opens admission again (tests: "… revives nothing …", "closes though a proof …").
    this.check();
    if (this.#closing.signal.aborted) return;
    this.deadline.extend(vouchedAt, this.timing.ttl - this.timing.margin);
    this.#prover.answered();
    if (!this.#suspect) return;
    this.#suspect = false;
    for (const seat of [...this.#live]) seat.restored();
  }

  #overdue(): void {
    if (this.#suspect || this.#live.size === 0) return;
    this.#suspect = true;
    for (const seat of [...this.#live]) seat.suspect();
  }

  /** Until admission closes, then until the deadline. */
  #left(): number {
    if (this.#live.size === 0) return Number.POSITIVE_INFINITY;
    const remaining = this.remaining();
    return remaining > this.#reserve ? remaining - this.#reserve : remaining;
  }

  /** Ends every term when the deadline has passed under one. */
  #pastDeadline(): boolean {
    if (this.#closing.signal.aborted) return true;
    if (this.#live.size === 0 || this.deadline.holds(this.clock)) return false;
    const error = new StoreError("session-ended", "no proof that the session lives came before its deadline");
    const working = this.#endSeats("deadline", error) || [...this.#unsettled].some((seat) => seat.working);
    if (working) this.#finish("deadline", error);
    else this.#close(error);
    return true;
  }

  /** What terms tell is delivered in a later microtask (test: "all its terms have changed state before any listener runs"). */
  #endSeats(reason: LostReason, cause: unknown): boolean {
    let working = false;
    for (const seat of [...this.#live]) {
      working ||= seat.working;
      seat.end(reason === "deadline" && seat.working ? "overrun" : reason, cause);
    }
    return working;
  }

  #close(reason: unknown): void {
    this.#prover.stop();
    this.#calls.close(reason);
    this.#closing.abort(reason);
  }

  #finish(reason: LostReason, cause: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#watch?.cancel();
    this.session.abandon();
    // Before the seats: a call that ends with its seat lets the next one have its turn (test: "… also of what waited for its turn").
    this.#calls.end(cause);
    this.#endSeats(reason, cause);
    this.#close(cause);
  }

  #arm(ms: number): void {
    const due = this.clock.mono() + ms;
    if (this.#over || due >= this.#watchDue) return;
    this.#watch?.cancel();
    this.#watchDue = due;
    // A timer may fire a little before the instant it was set for.
    this.#watch = this.clock.after(Math.max(ms, 1), () => {
      this.#watchDue = Number.POSITIVE_INFINITY;
      this.check();
    });
  }
}
