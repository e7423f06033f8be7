import { now } from "./now.js";

/** Somebody whose leadership is asked for over and over. */
interface Subject {
  readonly isLeader: boolean;
}

/** What asking has shown so far. */
export interface Samples {
  /** When the last question that was answered with yes had been answered; -Infinity if none was. */
  readonly lastTrue: number;
  /** The longest time between two questions, ms: how exact `lastTrue` is. */
  readonly coarsest: number;
  /** Asks now as well. */
  ask(): void;
  /** Asks no more. */
  stop(): void;
}

class Sampled implements Samples {
  lastTrue = Number.NEGATIVE_INFINITY;
  coarsest = 0;
  #asked = now();
  readonly #subject: Subject;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  ask(): void {
    const { isLeader } = this.#subject;
    const at = now();
    this.coarsest = Math.max(this.coarsest, at - this.#asked);
    this.#asked = at;
    if (isLeader) this.lastTrue = at;
  }

  stop(): void {
    this.ask();
    active.delete(this);
  }
}

const active = new Set<Sampled>();

/** Asks `subject` in every turn of the event loop whether it is the leader. */
export function sample(subject: Subject): Samples {
  const sampled = new Sampled(subject);
  active.add(sampled);
  if (active.size === 1) setImmediate(turn);
  return sampled;
}

function turn(): void {
  for (const sampled of active) sampled.ask();
  if (active.size > 0) setImmediate(turn);
}
