import { Attempts } from "./attempts.js";
import { type Clock, type Ender, elapsed, type Instant, instant } from "./clock.js";

/** However little is left, an attempt gets this long, ms. */
const SHORTEST_ATTEMPT = 100;

export interface CallsPort {
  /** Asked before each call: after a pause somebody else may get here before the session's own timer (test: "sends nothing more after a pause …"). */
  check(): void;
  /** Milliseconds that the terms of the session leave for an attempt; Infinity: none is held. */
  left(): number;
}

/**
 * The calls on one session: how long each may take, and when the store was last heard. What serves elections ends when
 * the session closes, a farewell only when it is over.
 */
export class SessionCalls {
  readonly #clock: Clock;
  readonly #ttl: number;
  readonly #port: CallsPort;
  readonly #campaigns: Attempts;
  readonly #farewells: Attempts;
  #heard: Instant;

  constructor(clock: Clock, ttl: number, port: CallsPort) {
    this.#clock = clock;
    this.#ttl = ttl;
    this.#port = port;
    this.#campaigns = new Attempts(clock);
    this.#farewells = new Attempts(clock);
    this.#heard = instant(clock);
  }

  /** Milliseconds until nothing has been heard for as long as the session lives. */
  get silence(): number {
    return this.#ttl - elapsed(this.#clock, this.#heard);
  }

  attempt<T>(what: string, signal: Ender | null, call: (signal: Ender) => Promise<T>): Promise<T> {
    this.#port.check();
    return this.#heardBy(this.#campaigns.run(what, this.#inTurn, signal, call));
  }

  /** A proof or a touch. */
  vital<T>(what: string, call: (signal: Ender) => Promise<T>): Promise<T> {
    this.#port.check();
    return this.#heardBy(this.#campaigns.urgent(what, this.#patience(), null, call));
  }

  wait<T>(signal: Ender | null, call: (signal: Ender) => Promise<T>): Promise<T> {
    this.#port.check();
    return this.#campaigns.wait(signal, call);
  }

  farewell<T>(what: string, call: (signal: Ender) => Promise<T>): Promise<T> {
    this.#port.check();
    return this.#heardBy(this.#farewells.run(what, this.#inTurn, null, call));
  }

  farewellWait(call: (signal: Ender) => Promise<void>): Promise<void> {
    return this.#farewells.wait(null, call);
  }

  /** Ends all but farewells. */
  close(reason: unknown): void {
    this.#campaigns.end(reason);
  }

  /** Ends everything. */
  end(reason: unknown): void {
    this.#campaigns.end(reason);
    this.#farewells.end(reason);
  }

  /** As {@link CallsPort.check} says, also for a call that has waited for its turn. */
  readonly #inTurn = (): number => {
    this.#port.check();
    return this.#patience();
  };

  /** Half of what is left: until admission closes while leading, else until ttl since the last reply. */
  #patience(): number {
    return Math.max(Math.min(this.silence, this.#port.left()) / 2, SHORTEST_ATTEMPT);
  }

  async #heardBy<T>(reply: Promise<T>): Promise<T> {
    const result = await reply;
    this.#heard = instant(this.#clock);
    return result;
  }
}
