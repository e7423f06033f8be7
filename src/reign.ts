import { instant, type Timer } from "./clock.js";
import type { Deadline } from "./deadline.js";
import { type Duration, parseDuration } from "./duration.js";
import { DrainingError, LostError, type LostReason } from "./errors.js";
import { Halt, LazySignal } from "./halt.js";
import type { Seat, SharedSession } from "./shared-session.js";
import type { HeldPlace } from "./store.js";
import type { DrainReason, Term, TermPort } from "./term.js";
import { Works } from "./works.js";

export interface ReignOptions {
  readonly election: string;
  readonly held: HeldPlace;
  readonly session: SharedSession;
  /** ms */
  readonly reserve: number;
  /** ms */
  readonly drain: number;
  readonly port: TermPort;
}

/** Why what served a term ends with it. */
const ENDED = new Error("the term is over");

/**
 * A term as the elector runs it: leading → draining → over, and settled when its work is. It ends when its work has
 * settled after a drain, or at its deadline, whichever comes first; the seat is given back only when both are past.
 */
export class Reign implements Term, Seat {
  readonly election: string;
  readonly number: number;
  readonly fence: bigint;
  readonly token: string;
  readonly since: Date;
  readonly handle: unknown;
  readonly reserve: number;
  /** Aborts in the very step in which the term is over. */
  readonly halt = new Halt();
  readonly #session: SharedSession;
  readonly #port: TermPort;
  readonly #drainTime: number;
  readonly #draining = new LazySignal();
  readonly #signal = new LazySignal();
  readonly #works: Works;
  /** The session's own deadline, until the drain has run out: then a copy that stands still. */
  #limit: Deadline;
  #suspect = false;
  #drainReason: DrainReason | null = null;
  #drainTimer: Timer | null = null;
  #lost: { readonly reason: LostReason; readonly cause: unknown } | null = null;
  #error: LostError | null = null;
  #wake: () => void = () => {};
  readonly #ending: Promise<void>;

  constructor(options: ReignOptions) {
    const { held, session, port } = options;
    this.election = options.election;
    this.number = held.number;
    this.fence = held.fence;
    this.token = held.fence.toString();
    this.handle = held.handle;
    this.since = new Date(instant(session.clock).wall);
    this.reserve = options.reserve;
    this.#drainTime = options.drain;
    this.#session = session;
    this.#port = port;
    this.#limit = session.deadline;
    this.#works = new Works((error) => port.warn(error, "work of the term failed"));
    this.#ending = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  // Test: "isLeader is false at the first look after a pause …".
  get valid(): boolean {
    return this.#lost === null && this.#limit.holds(this.#session.clock);
  }

  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  get over(): boolean {
    return this.#lost !== null;
  }

  get drained(): boolean {
    return this.#drainReason !== null;
  }

  get working(): boolean {
    return this.#works.running;
  }

  remaining(): number {
    return this.#lost ? 0 : Math.max(0, this.#limit.remaining(this.#session.clock));
  }

  assertValid(needs: Duration = 0): void {
    if (needs !== 0 && !(typeof needs === "number" && needs >= 0)) return this.assertValid(parseDuration("needs", needs));
    if (this.valid && (needs === 0 || this.#limit.remaining(this.#session.clock) > needs)) return;
    throw (
      this.#lostError ?? new LostError("deadline", this.#message(this.valid ? `has less than ${needs} ms left` : "is past its deadline"))
    );
  }

  async guard<T>(operation: (signal: AbortSignal) => T | PromiseLike<T>, options?: { needs?: Duration }): Promise<T> {
    this.assertValid(options?.needs);
    const running = (async () => operation(this.signal))();
    this.#works.add(running, false);
    const result = await running;
    if (this.valid) return result;
    const reason = this.#lost?.reason ?? "deadline";
    throw new LostError(reason, this.#message("ended while the operation ran: it may have taken effect"), {
      cause: this.#lostError,
      result,
    });
  }

  waitUntil(work: PromiseLike<unknown>): void {
    if (this.#works.closed) throw this.#lostError ?? new LostError("resigned", this.#message("is over"));
    this.#works.add(work, true);
  }

  async confirm(): Promise<void> {
    this.assertValid();
    try {
      await this.#session.prove();
    } catch (error) {
      throw this.#lostError ?? error;
    }
    this.assertValid();
  }

  suspect(): void {
    if (this.#drainReason || this.#lost || this.#suspect) return;
    this.#suspect = true;
    this.#port.suspect();
  }

  /** Told to all terms of a session: also to one that began after the suspicion. */
  restored(): void {
    if (this.#drainReason || this.#lost || !this.#suspect) return;
    this.#suspect = false;
    this.#port.restored();
  }

  /** Closes admission; the term goes on until its work has settled, or its drain has run out and its deadline has come (test: drain.test.ts). */
  drain(reason: DrainReason): void {
    if (this.#drainReason || this.#lost) return;
    this.#drainReason = reason;
    this.#drainTimer = this.#session.clock.after(this.#drainTime, () => {
      this.#limit = this.#session.deadline.frozen();
      this.#session.check();
    });
    this.#port.draining(reason);
    this.#wake();
  }

  /** The term is over, from this very call on. */
  end(reason: LostReason, cause: unknown): void {
    if (this.#lost) return;
    this.#lost = { reason, cause };
    this.#drainTimer?.cancel();
    this.#session.seatOver(this);
    this.#port.over(reason, cause);
    this.halt.abort(ENDED);
    this.#wake();
  }

  /** Aborts `draining`; called when it is this change's turn to be told. */
  announceDraining(): void {
    const reason = this.#drainReason ?? "yielded";
    this.#draining.abort(() => new DrainingError(reason, this.#message(`drains: ${reason}`)));
  }

  /** Aborts `signal` (and `draining` before it); called when it is this change's turn to be told. */
  announceOver(): void {
    this.#draining.abort(() => this.#lostError);
    this.#signal.abort(() => this.#lostError);
  }

  check(): number {
    if (this.#lost) return Number.POSITIVE_INFINITY;
    const left = this.#limit.remaining(this.#session.clock);
    if (left <= 0) this.end(this.working ? "overrun" : "deadline", undefined);
    else if (!this.#drainReason && left <= this.reserve) this.drain("yielded");
    if (this.#lost) return Number.POSITIVE_INFINITY;
    return this.#drainReason ? left : left - this.reserve;
  }

  /** Runs `work` as work of this term. */
  run(work: PromiseLike<unknown>): void {
    this.#works.add(work, true);
  }

  /** Resolves when the term is over, its work has settled and all of it has been told: only then may the seat be given back (test: drain.test.ts). */
  async finished(): Promise<LostReason> {
    await this.#ending;
    do {
      await this.#port.delivered();
      await this.#works.settled();
    } while (this.#works.running);
    this.#works.close();
    this.end(this.#drainReason ?? "yielded", undefined);
    this.#session.seatSettled(this);
    await this.#port.delivered();
    return this.#lost?.reason ?? "yielded";
  }

  /** One for each term, made when it is asked for. */
  get #lostError(): LostError | null {
    const lost = this.#lost;
    if (lost !== null) this.#error ??= new LostError(lost.reason, this.#message(`is over: ${lost.reason}`), { cause: lost.cause });
    return this.#error;
  }

  #message(what: string): string {
    return `term ${this.number} of ${this.election} ${what}`;
  }
}
