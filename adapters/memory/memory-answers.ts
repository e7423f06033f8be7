import { type Clock, type Instant, instant } from "../../src/clock.js";

interface Answered {
  readonly sent: Instant;
  /** Monotonic. */
  readonly at: number;
}

/**
 * Which requests of a connection were answered, and when: from that follows what a proof vouches for. Age is read off
 * the monotonic clock alone: the wall clock, stepped forward, would make an answer look older than it is.
 */
export class Answers {
  readonly #clock: Clock;
  readonly #gap: number;
  /** The newest that is old enough, if any is, and then all younger ones. */
  #answered: Answered[] = [];
  #connectedAt: Instant;

  constructor(clock: Clock, gap: number) {
    this.#clock = clock;
    this.#gap = gap;
    this.#connectedAt = instant(clock);
  }

  /** A new connection begins with its handshake: nothing that was sent before counts. */
  begin(): void {
    this.#answered = [];
    this.#connectedAt = instant(this.#clock);
  }

  /** A request sent at `sent` is answered now. */
  add(sent: Instant): void {
    if (this.#gap === 0) return;
    this.#forget();
    this.#answered.push({ sent, at: this.#clock.mono() });
  }

  /** What a proof sent now vouches for. */
  vouchedAt(): Instant {
    if (this.#gap === 0) return instant(this.#clock);
    this.#forget();
    const oldest = this.#answered[0];
    return oldest && this.#isOld(oldest) ? oldest.sent : this.#connectedAt;
  }

  #forget(): void {
    const young = this.#answered.findIndex((answered) => !this.#isOld(answered));
    const old = young < 0 ? this.#answered.length : young;
    if (old > 1) this.#answered.splice(0, old - 1);
  }

  #isOld({ at }: Answered): boolean {
    return this.#clock.mono() - at >= this.#gap;
  }
}
