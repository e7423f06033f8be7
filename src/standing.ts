import type { Backoff } from "./backoff.js";
import { type Ender, sleep } from "./clock.js";
import { StoreError } from "./errors.js";
import type { Reign } from "./reign.js";
import type { SharedSession } from "./shared-session.js";
import type { Contender, HeldPlace, Place } from "./store.js";

/** One candidacy on one session, and what its steps need. */
export interface Standing {
  readonly session: SharedSession;
  readonly contender: Contender;
  /** Aborts when the elector is to stop. */
  readonly stop: Ender;
  /** ms */
  readonly reserve: number;
  /** Between tries of one step; reset by success. */
  readonly retry: Backoff;
  /** Takes note of what a look showed besides the place; throws for what cannot be stood with. */
  heed(place: Place): void;
  /** The candidate waits behind another. */
  standby(): void;
  /** A step failed and will be tried again. */
  trouble(error: StoreError): void;
  /** The seat cannot be watched any more, and no further try cures that. */
  blind(error: StoreError): void;
}

/** Looks, waits and claims until the seat is mine; null when my place has gone. */
export async function campaign(standing: Standing): Promise<HeldPlace | null> {
  const { session, contender, stop } = standing;
  for (;;) {
    try {
      const place = await look(standing);
      standing.heed(place);
      standing.retry.reset();
      if (place.kind === "held") return place;
      if (place.kind === "gone") return null;
      if (place.kind === "behind") {
        standing.standby();
        await session.wait(stop, (signal) => contender.moved(place, signal));
        continue;
      }
      const claimed = await session.attempt("claim", stop, (signal) => contender.claim(place, signal));
      if (claimed.kind === "held") return claimed;
      if (claimed.wait > 0) await session.wait(stop, (signal) => sleep(session.clock, claimed.wait, signal));
    } catch (problem) {
      await weather(problem, standing);
    }
  }
}

/** A look, with a proof in the same flight: whoever finds the seat its own needs a fresh deadline to enter. */
async function look(standing: Standing): Promise<Place> {
  const { session, contender, stop } = standing;
  const looking = session.attempt("look", stop, (signal) => contender.look(signal));
  // If it fails, entering asks again.
  const proving = fresh(standing) ? null : prove(standing).catch(() => {});
  const place = await looking;
  if (place.kind === "held" || place.kind === "head") await proving;
  return place;
}

/** A proof that a stop does not wait for. */
function prove({ session, stop }: Standing): Promise<void> {
  return session.wait(stop, () => session.prove());
}

/** Whether the deadline leaves room for a term: admission is open until the next proof is due (test: "a seat found held"). */
function fresh({ session, reserve }: Standing): boolean {
  return session.remaining() > reserve + session.timing.interval;
}

/** Whether a term may begin. To be asked in the very step in which it does: a stop, or the session's end, may come in any other (test: stop.test.ts). */
export function ready(standing: Standing): boolean {
  return !standing.stop.aborted && !standing.session.closing.aborted && fresh(standing);
}

/** Makes the deadline fresh, if need be by a second proof that can vouch for the first. */
export async function freshen(standing: Standing): Promise<void> {
  const { session, stop } = standing;
  for (const wait of [0, session.timing.gap]) {
    if (stop.aborted || session.closing.aborted || fresh(standing)) return;
    try {
      if (wait > 0) await session.wait(stop, (signal) => sleep(session.clock, wait, signal));
      await prove(standing);
    } catch {
      // Whether the deadline is fresh decides.
    }
  }
}

/**
 * While leading: looks whenever the seat may have gone, and ends the term when it has (test: "a seat taken away by force").
 * Who may not look any more would not hear of that: it drains (test: "a leader that may not look at its seat …"). That the session has ended
 * may be said by a call before it is by the session, whose end takes the term with it (test: "a session whose end a call tells first …").
 */
export async function guardSeat(standing: Standing, reign: Reign): Promise<void> {
  const { session, contender, retry } = standing;
  while (!reign.over) {
    try {
      await session.wait(reign.halt, (signal) => contender.unseated(signal));
      const place = await session.attempt("look", reign.halt, (signal) => contender.look(signal));
      retry.reset();
      if (place.kind === "held" && place.fence === reign.fence) continue;
      if (regressed(place, reign.fence)) reign.end("fence-regressed", undefined);
      else reign.end(place.kind === "gone" ? "evicted" : "superseded", undefined);
    } catch (problem) {
      if (reign.over || session.closing.aborted) return;
      if (problem instanceof StoreError) {
        standing.trouble(problem);
        if (!problem.transient && problem.code !== "session-ended" && !reign.drained) {
          standing.blind(problem);
          reign.drain("yielded");
        }
      }
      await session.wait(reign.halt, (signal) => sleep(session.clock, retry.next(), signal)).catch(() => {});
    }
  }
}

/** Whether the store remembers an older term than mine. That it remembers none only says that somebody overwrote the record. */
function regressed({ seen }: Place, fence: bigint): boolean {
  return seen > 0n && seen < fence;
}

/**
 * Withdraws, however often it takes, until the store has confirmed it (true) or the session is over (false). `onStuck`
 * is told of a failure that no further try cures, once; with null, if one did all the same. Test: withdraw.test.ts.
 */
export async function leave(standing: Standing, how: "hand-over" | "free", onStuck: (error: StoreError | null) => void): Promise<boolean> {
  const { session, contender, retry } = standing;
  retry.reset();
  for (let stuck = false; ; ) {
    try {
      await session.farewell("withdraw", (signal) => contender.withdraw(how, signal));
      if (stuck) onStuck(null);
      return true;
    } catch (problem) {
      if (session.over) return false;
      if (problem instanceof StoreError && !problem.transient && !stuck) {
        stuck = true;
        onStuck(problem);
      }
    }
    await session.farewellWait((signal) => sleep(session.clock, retry.next(), signal)).catch(() => {});
  }
}

/** Rethrows what no further try cures, and waits a little otherwise. */
async function weather(problem: unknown, standing: Standing): Promise<void> {
  const { session, stop, retry } = standing;
  const transient = problem instanceof StoreError && problem.transient;
  if (stop.aborted || session.closing.aborted || !transient) throw problem;
  standing.trouble(problem);
  await session.wait(stop, (signal) => sleep(session.clock, retry.next(), signal));
}
