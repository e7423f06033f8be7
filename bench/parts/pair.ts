import { setTimeout as sleep } from "node:timers/promises";
import type { Peer } from "../peer.js";
import { say } from "../run.js";
import { median, type Spread, spread } from "../statistics.js";

/** All elections of one process handed to another. */
export interface Moved extends Spread {
  readonly system: string;
  readonly elections: number;
  /** Not what is judged: ms for one process to lead all where nobody stands, and for the other to stand by in all. */
  readonly joined: readonly [number, number];
  /** ms until the leaving process has nothing left at the store. */
  readonly untilStopped: number;
  /** Processor time of the one that leaves, and of the one that takes over, ms. */
  readonly cpu: readonly [number, number];
  /** What the counter counted meanwhile, an election, upkeep of both sessions included. */
  readonly counted: number;
}

export interface PairOptions {
  readonly elections: number;
  /** So many candidacies begin in one turn of the event loop, when all are prepared. */
  readonly inOneTurn: number;
  /** Each hands all over, and back again; one more before them warms up. */
  readonly rounds: number;
}

/** Counts something that the server does. */
export interface Counter {
  /** For people. */
  readonly what: string;
  during(action: () => Promise<unknown>): Promise<number>;
}

/** A folder for the profiles of the last hand-over, of both sides. */
const profiles = process.env.TENURE_PROFILES;

/** Two processes of one build that hand all their elections to each other. */
export class Pair {
  readonly #name: string;
  readonly #options: PairOptions;
  readonly #a: Peer;
  readonly #b: Peer;
  readonly #times = { taken: [] as number[], stopped: [] as number[], waiting: [] as number[], from: [] as number[], to: [] as number[] };
  readonly #counted: number[] = [];
  #leading = 0;

  constructor(name: string, start: (side: "A" | "B") => Peer, options: PairOptions) {
    this.#name = name;
    this.#options = options;
    this.#a = start("A");
    this.#b = start("B");
  }

  /** A leads all. */
  async open(): Promise<void> {
    for (const peer of [this.#a, this.#b]) await peer.ask("open");
    [this.#leading = 0] = await this.#stand(this.#a);
  }

  async thereAndBack(counter: Counter, round: number): Promise<void> {
    await this.#handOver(this.#a, this.#b, counter, round);
    await this.#handOver(this.#b, this.#a, counter, round);
  }

  result(): Moved {
    const { taken, stopped, waiting, from, to } = this.#times;
    return {
      system: this.#name,
      elections: this.#options.elections,
      ...spread(taken),
      joined: [this.#leading, median(waiting)],
      untilStopped: median(stopped),
      cpu: [median(from), median(to)],
      counted: median(this.#counted),
    };
  }

  async quit(): Promise<void> {
    await Promise.all([this.#a.quit(), this.#b.quit()]);
  }

  async #handOver(from: Peer, to: Peer, counter: Counter, round: number): Promise<void> {
    const { elections, rounds } = this.#options;
    const [waiting = 0] = await this.#stand(to);
    // Watches are set after a candidate has been told that it waits.
    await sleep(1500);
    const profiled = profiles !== undefined && round === rounds;
    if (profiled) for (const peer of [from, to]) await peer.ask("profile");
    const [before = 0] = await to.numbers("cpu");
    let led: number[] = [];
    let stopped: number[] = [];
    const counted = await counter.during(async () => {
      [led, stopped] = await Promise.all([to.numbers("lead", elections), from.numbers("stop")]);
      await sleep(500);
    });
    const [after = 0] = await to.numbers("cpu");
    const file = (side: string) => `${profiles}/many-${side}-${this.#name.replace("/", "-")}.cpuprofile`;
    if (profiled) for (const [side, peer] of Object.entries({ from, to })) await peer.ask("profile", file(side));
    const [last = 0] = led;
    const [leaders = 0, told = 0] = await to.numbers("leaders");
    const [began = 0, ended = 0, used = 0] = stopped;
    if (leaders !== elections) throw new Error(`${this.#name}: ${leaders} of ${elections} elections are led`);
    if (told !== elections) say(`many: ${this.#name}: ${told} terms of ${elections} elections: some were lost meanwhile`);
    say(`many: ${this.#name}, ${elections} elections: ${Math.round(last - began)} ms (${counter.what}: ${counted})`);
    if (round === 0) return;
    this.#times.taken.push(last - began);
    this.#times.stopped.push(ended - began);
    this.#times.waiting.push(waiting);
    this.#times.from.push(used);
    this.#times.to.push(after - before);
    this.#counted.push(counted / elections);
  }

  #stand(peer: Peer): Promise<number[]> {
    return peer.numbers("stand", this.#options.elections, this.#options.inOneTurn);
  }
}
