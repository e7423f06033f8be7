/**
 * What an elector is doing. What holds in each state, and how it is left:
 * - `idle`: not started; no entry, no session. Left by `start()` or `lead()`.
 * - `connecting`: wants a session, or has one and has not looked yet. Left when the first look is answered.
 * - `standby`: in the queue, behind another. Left when the seat is held, when the entry has gone, or to leave.
 * - `entering`: the seat is held and a fresh proof is under way; not leader yet. Left by `elected`, or to hand the seat on.
 * - `leading`: leader while the clock is before the deadline.
 * - `suspect`: as `leading`; a proof is overdue. Left when one is answered (`restored`), or by draining, or at the deadline.
 * - `draining`: still leader; admission is closed, no new work should start. Left when the work has settled, or at the deadline.
 * - `ending`: the term is over and its work has not settled. The entry stays. Left when the work has settled.
 * - `leaving`: no work is running; the withdrawal is under way. Left when the store has confirmed it or the session is over.
 * - `stopped`: nothing is left at the store. Left by `start()` or `lead()`.
 */
export type ElectorState =
  | "idle"
  | "connecting"
  | "standby"
  | "entering"
  | "leading"
  | "suspect"
  | "draining"
  | "ending"
  | "leaving"
  | "stopped";

const LEGAL: Readonly<Record<ElectorState, readonly ElectorState[]>> = {
  idle: ["connecting"],
  connecting: ["standby", "entering", "leaving", "stopped"],
  standby: ["entering", "leaving"],
  entering: ["leading", "leaving"],
  leading: ["suspect", "draining", "ending", "leaving"],
  suspect: ["leading", "draining", "ending", "leaving"],
  draining: ["ending", "leaving"],
  ending: ["leaving"],
  leaving: ["connecting", "stopped"],
  stopped: ["connecting"],
};

/** Throws unless the table allows the change: a mistake of ours, never the user's. */
export function checkChange(from: ElectorState, to: ElectorState): void {
  if (!LEGAL[from].includes(to)) throw new TypeError(`elector: ${from} → ${to} is not a legal change of state`);
}
