import type { Clock, Timer } from "../../src/clock.js";

/** One direction of a connection: delivers in the order of sending, after a latency, unless held back. */
export class Channel {
  readonly #clock: Clock;
  readonly #latency: () => number;
  readonly #held: () => boolean;
  /** Whether a delivery without latency still takes a turn of the microtask queue. */
  readonly #later: boolean;
  #queue: { readonly due: number; readonly deliver: () => void }[] = [];
  #timer: Timer | null = null;

  constructor(clock: Clock, options: { latency: () => number; held: () => boolean; later: boolean }) {
    this.#clock = clock;
    this.#latency = options.latency;
    this.#held = options.held;
    this.#later = options.later;
  }

  send(deliver: () => void): void {
    this.#queue.push({ due: this.#clock.mono() + this.#latency(), deliver });
    if (this.#later) queueMicrotask(() => this.pump());
    else this.pump();
  }

  /** Delivers what is due; called again when what was held back may go on. */
  pump(): void {
    while (!this.#held()) {
      const first = this.#queue[0];
      if (!first) break;
      const wait = first.due - this.#clock.mono();
      if (wait > 0) {
        this.#timer ??= this.#clock.after(wait, () => {
          this.#timer = null;
          this.pump();
        });
        return;
      }
      this.#queue.shift();
      first.deliver();
    }
  }

  /** Loses whatever is under way. */
  drop(): void {
    this.#queue = [];
    this.#timer?.cancel();
    this.#timer = null;
  }
}
