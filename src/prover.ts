import { Backoff } from "./backoff.js";
import type { Clock, Timer } from "./clock.js";

/** What the prover does and tells. */
export interface ProverPort {
  /** Whether a term depends on proofs; otherwise a touch is enough. */
  leading(): boolean;
  /** One proof or one touch. Rejects when it failed; never throws. */
  send(kind: "proof" | "touch"): Promise<void>;
  /** The proof before was not answered when the next was due. */
  overdue(): void;
}

const RETRY_BASE = 50;

/**
 * Sends a proof (or a touch) every interval, also while one is pending: a frozen server swallows one request and
 * answers the next (test: suspect.test.ts). After a failure it tries again soon, and does not wait for the interval.
 */
export class Prover {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #port: ProverPort;
  readonly #backoff: Backoff;
  #due: Timer | null = null;
  #retry: Timer | null = null;
  #pending = 0;
  #awaiting = false;
  #stopped = false;

  constructor(clock: Clock, interval: number, port: ProverPort) {
    this.#clock = clock;
    this.#interval = interval;
    this.#port = port;
    this.#backoff = new Backoff(clock, RETRY_BASE, interval / 2);
    this.#schedule();
  }

  /** A proof (or, while nobody leads, a touch) was answered, whoever asked for it. */
  answered(): void {
    this.#awaiting = false;
    this.#backoff.reset();
  }

  stop(): void {
    this.#stopped = true;
    this.#due?.cancel();
    this.#retry?.cancel();
  }

  #schedule(): void {
    this.#due = this.#clock.after(this.#interval, () => {
      this.#schedule();
      const leading = this.#port.leading();
      if (leading && this.#awaiting) this.#port.overdue();
      if (!this.#stopped) this.#send(leading);
    });
  }

  #send(leading: boolean): void {
    this.#retry?.cancel();
    if (leading) this.#awaiting = true;
    this.#pending++;
    this.#port.send(leading ? "proof" : "touch").then(
      () => {
        this.#pending--;
        if (!leading) this.answered();
      },
      () => {
        if (--this.#pending === 0 && !this.#stopped) this.#again();
      },
    );
  }

  #again(): void {
    this.#retry?.cancel();
    this.#retry = this.#clock.after(this.#backoff.next(), () => this.#send(this.#port.leading()));
  }
}
