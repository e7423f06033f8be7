import type { Clock, Timer } from "../../src/clock.js";

/** One session as the server keeps it: until when, and what pushes that back. */
export class Lease {
  readonly id: string;
  readonly ttl: number;
  /** Guid of each entry made on this session, and its election. */
  readonly entries = new Map<string, string>();
  readonly #clock: Clock;
  readonly #relay: number;
  readonly #expire: () => void;
  #expiresAt: number;
  #touchedAt: number;
  #expiryTimer: Timer | null = null;
  #relayTimer: Timer | null = null;

  /** `relay`: for how long a touch lies at the server that took it before it counts, ms. */
  constructor(id: string, ttl: number, relay: number, clock: Clock, expire: () => void) {
    this.id = id;
    this.ttl = ttl;
    this.#relay = relay;
    this.#clock = clock;
    this.#expire = expire;
    this.#touchedAt = clock.mono();
    this.#expiresAt = this.#touchedAt + ttl;
    this.#watchExpiry();
  }

  get overdue(): boolean {
    return this.#clock.mono() >= this.#expiresAt;
  }

  /** A request arrived. It renews as of now, though perhaps only after a while: that is the least that a real store does. */
  touch(): void {
    this.#touchedAt = this.#clock.mono();
    if (this.#relay === 0) return this.renew();
    this.#relayTimer ??= this.#clock.after(this.#relay, () => {
      this.#relayTimer = null;
      this.renew();
    });
  }

  /** The newest touch counts now. */
  renew(): void {
    this.#expiresAt = Math.max(this.#expiresAt, this.#touchedAt + this.ttl);
  }

  /** Touches that were not passed on yet never are. */
  forgetTouches(): void {
    this.#relayTimer?.cancel();
    this.#relayTimer = null;
  }

  /** The full timeout from now on, as after a new connection or a restart of the server. */
  restart(): void {
    this.stop();
    this.#touchedAt = this.#clock.mono();
    this.renew();
    this.#watchExpiry();
  }

  /** No timer is left. */
  stop(): void {
    this.forgetTouches();
    this.#expiryTimer?.cancel();
    this.#expiryTimer = null;
  }

  #watchExpiry(): void {
    this.#expiryTimer = this.#clock.after(this.#expiresAt - this.#clock.mono(), () => {
      if (this.overdue) this.#expire();
      else this.#watchExpiry();
    });
  }
}
