import type { Clock, Timer } from "../clock.js";
import { KILL_MARGIN, later, type MachineInstant, machineNow } from "./machine-time.js";

/** The longest time between two looks at the term, in ms. */
const LONGEST = 250;
const SHORTEST = 10;

/** Where the deadlines of a term go. */
export interface DeadlineSink {
  /** The newest deadline, by the clocks that all processes share; never later than the term's own. */
  deadline(deadline: MachineInstant): void;
  /** The term has KILL_MARGIN left, or less. Called once; nothing follows. */
  due(): void;
}

/** Looks at the term again and again until `due`, or until the function that it returns is called. The first look is made at once. */
export function feedDeadlines(term: { remaining(): number }, clock: Clock, sink: DeadlineSink): () => void {
  let timer: Timer | null = null;
  let stopped = false;
  const look = () => {
    // The clocks first: a pause between the two readings then makes the deadline earlier, not later.
    const now = machineNow();
    const remaining = term.remaining();
    if (remaining <= KILL_MARGIN) return sink.due();
    sink.deadline(later(now, remaining));
    if (stopped) return;
    const next = Math.min(LONGEST, Math.max(SHORTEST, remaining / 10), remaining - KILL_MARGIN);
    timer = clock.after(next, look);
  };
  look();
  return () => {
    stopped = true;
    timer?.cancel();
  };
}
