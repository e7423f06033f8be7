import type { Instant } from "../../../src/clock.js";

interface Answered {
  /** The monotonic time at which this entry was begun; later replies are merged into it for one `grain`. */
  readonly begun: number;
  /** When the newest request of this entry was handed to the socket. */
  sent: Instant;
  /** When its reply had arrived, monotonic ms. */
  arrived: number;
}

/** A proof's memory of a session is divided into at most so many grains. */
const GRAINS = 128;

/**
 * What a proof on one connection vouches for: *the sending of the newest request whose reply had arrived `gap` before the
 * proof was sent*, at least that of the handshake. A follower passes its clients' signs of life to the ensemble leader
 * every half tick, on the same ordered link as the proof: whatever had been answered so long before has arrived there.
 * (Not "the proof before this one": when the client's link stalls, both arrive together.)
 *
 * Replies that arrive within `ttl / 128` of each other share one entry, which counts as arrived with the last of them:
 * that makes an instant at most so much older, never younger, and the record short.
 */
export class ProofRecord {
  readonly #handshake: Instant;
  readonly #ttl: number;
  readonly #answered: Answered[] = [];

  /** `handshake`: the moment before the connect request was written. `ttl`: what was granted, ms; no `gap` may be larger. */
  constructor(handshake: Instant, ttl: number) {
    this.#handshake = handshake;
    this.#ttl = ttl;
  }

  /** Notes that the request sent at `sent` was answered; `arrived` is monotonic ms. Replies come in the order of requests. */
  answered(sent: Instant, arrived: number): void {
    const last = this.#answered.at(-1);
    if (last !== undefined && arrived - last.begun < this.#ttl / GRAINS) {
      last.sent = sent;
      last.arrived = arrived;
      return;
    }
    this.#answered.push({ begun: arrived, sent, arrived });
    const second = this.#answered[1];
    if (second !== undefined && arrived - second.arrived >= this.#ttl) this.#answered.shift();
  }

  /**
   * What a proof sent at `now` (monotonic ms) vouches for. Only monotonic time counts here: a step of the wall clock must
   * not make a reply look old enough.
   */
  vouchedAt(now: number, gap: number): Instant {
    return this.#answered.findLast((entry) => now - entry.arrived >= gap)?.sent ?? this.#handshake;
  }
}
