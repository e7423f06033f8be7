import type { Clock, Timer } from "../../../src/clock.js";

export interface PulseOptions {
  /** A ping is sent when nothing was sent for so long, ms. */
  readonly ping: number;
  /** The connection is given up when an answer is due and no byte came for so long, ms (but each answer has `ping` ms at least). */
  readonly silence: number;
}

export interface PulseHost {
  sendPing(): void;
  giveUp(): void;
  /** Whether the server owes an answer. */
  waiting(): boolean;
}

/**
 * Keeps one connection's session alive and finds out when the link is dead. Pings depend on what *we* sent: what the
 * server sends (notifications) is no sign of life to it. Only monotonic time counts; the wall clock may step.
 */
export class Pulse {
  readonly #clock: Clock;
  readonly #options: PulseOptions;
  readonly #host: PulseHost;
  #timer: Timer | undefined;
  #due = Infinity;
  #lastSent: number;
  #lastHeard: number;
  /** Since when we wait for a byte; null while nothing is due. */
  #quietSince: number | null = null;
  #secondLook = false;
  #stopped = false;

  constructor(clock: Clock, options: PulseOptions, host: PulseHost) {
    this.#clock = clock;
    this.#options = options;
    this.#host = host;
    this.#lastSent = this.#lastHeard = clock.mono();
    this.#arm();
  }

  /** Something that will be answered was sent. */
  sent(): void {
    const now = this.#clock.mono();
    this.#lastSent = now;
    if (this.#quietSince !== null) return;
    this.#quietSince = now;
    if (this.#silentAt() < this.#due) this.#arm();
  }

  /** Bytes have come, and what they answer has been handled. */
  heard(): void {
    this.#secondLook = false;
    this.#lastHeard = this.#clock.mono();
    this.#quietSince = this.#host.waiting() ? this.#lastHeard : null;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #silentAt(): number {
    if (this.#quietSince === null) return Infinity;
    const { ping, silence } = this.#options;
    return Math.max(this.#lastHeard + silence, this.#quietSince + Math.min(silence, ping));
  }

  #arm(): void {
    this.#wait(Math.min(this.#lastSent + this.#options.ping, this.#silentAt()));
  }

  #wait(due: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#due = due;
    this.#timer = this.#clock.after(Math.max(0, due - this.#clock.mono()), () => this.#look());
  }

  #look(): void {
    const now = this.#clock.mono();
    if (now >= this.#silentAt()) {
      if (this.#secondLook) return this.#host.giveUp();
      // A process that was stopped for so long finds its answers in the socket, but timers come before sockets: look twice.
      this.#secondLook = true;
      return this.#wait(now);
    }
    this.#secondLook = false;
    if (now - this.#lastSent >= this.#options.ping) this.#host.sendPing();
    this.#arm();
  }
}
