import { setTimeout as sleep } from "node:timers/promises";
import { connectRaw, type RawSession } from "../../support/raw-session.js";
import { now } from "./now.js";

/**
 * Round trips to a server, one after the other, beside a scenario that measures how long something takes: what a slow machine, or a
 * pause of this process or the server's, does to a bound it does to them.
 */
export class Pace {
  readonly #raw: RawSession;
  readonly #trips: { readonly from: number; readonly to: number }[] = [];
  readonly #running: Promise<void>;
  #over = false;
  #next: () => void = () => {};

  private constructor(raw: RawSession) {
    this.#raw = raw;
    this.#running = this.#run();
  }

  static async at(address: string): Promise<Pace> {
    return new Pace(await connectRaw(address));
  }

  /** How much longer than usual something of a few round trips may have taken that began at `from` (by `now()`) and has just ended, ms. */
  async slack(from: number): Promise<number> {
    const asked = now();
    // A pause may have hit the trip that is under way.
    while ((this.#trips.at(-1)?.from ?? 0) < asked) await new Promise<void>((resolve) => (this.#next = resolve));
    return 4 * Math.max(...this.#trips.filter(({ to }) => to >= from).map((trip) => trip.to - trip.from));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await this.#running;
    await this.#raw.close();
  }

  /** Each trip counts from the end of the one before: a timer that fires late belongs to it. */
  async #run(): Promise<void> {
    for (let from = now(); !this.#over; from = this.#trips.at(-1)?.to as number) {
      await sleep(5);
      await this.#raw.exists("/");
      this.#trips.push({ from, to: now() });
      this.#next();
    }
  }
}
