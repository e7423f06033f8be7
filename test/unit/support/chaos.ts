import { sleep } from "../../../src/clock.js";
import type { Term } from "../../../src/term.js";
import { dice } from "./dice.js";
import { type Mishap, mishapsOf, sleepOf, stepBack, withoutGrace } from "./mishaps.js";
import { type Candidate, World } from "./world.js";

const TTL = 4000;

interface Running {
  readonly term: Term;
  readonly session: string;
}

/** One process with a candidate in each election: what befalls it, and the work it does while it leads. */
interface Process {
  readonly name: string;
  readonly candidates: readonly Candidate[];
  readonly running: Set<Running>;
  crashed: boolean;
  standing: boolean;
}

/**
 * Candidates on the memory store, and a few dozen seeded mishaps. Throws what went wrong, with the seed. A seed with
 * `force` also takes seats away without grace, and freezes machines: then two may believe at once, for a while.
 */
export class Chaos {
  readonly #seed: number;
  readonly #roll: () => number;
  readonly #force: boolean;
  readonly #world: World;
  readonly #elections: readonly string[];
  readonly #processes: Process[] = [];
  readonly #story: string[] = [];
  readonly #fences = new Map<string, bigint>();
  #up = true;
  /** What there is to check has been checked so often. */
  checks = 0;
  elections = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#roll = dice(seed);
    this.#force = seed % 4 === 3;
    this.#elections = seed % 5 === 0 ? ["e0", "e1", "e2"] : ["e0"];
    this.#world = new World({
      ttl: TTL,
      gap: seed % 2 === 0 ? 0 : 1100,
      latency: this.#pick([0, 3, 20]),
      lockDelay: this.#pick([0, 0, 300]),
    });
  }

  async run(steps: number): Promise<void> {
    try {
      const count = 2 + Math.floor(this.#roll() * 3);
      for (let i = 0; i < count; i++) this.#add(`c${i}`);
      for (let step = 0; step < steps; step++) {
        await this.#mishap();
        await this.#world.clock.advance(Math.floor(this.#roll() ** 2 * 2000));
        this.#look();
      }
      await this.#heal();
      await this.#end();
    } catch (error) {
      throw new Error(`seed ${this.#seed}: ${(error as Error).message}\n${this.#story.join("\n")}`, { cause: error });
    }
  }

  #add(name: string): void {
    const candidates: Candidate[] = [];
    for (const election of this.#elections) {
      const host = candidates[0] ? { with: candidates[0] } : {};
      candidates.push(this.#world.candidate(name, { ...host, election, drain: this.#pick([0, 500, 5000]) }));
    }
    const process: Process = { name, candidates, running: new Set(), crashed: false, standing: true };
    for (const candidate of candidates) {
      candidate.elector.on("elected", (term) => this.#elected(process, candidate, term));
      candidate.tap.around = (_, pass) => {
        this.#look();
        return pass();
      };
      candidate.elector.start();
    }
    this.#processes.push(process);
  }

  /** The work: until it is drained, and a little longer, sometimes too long. */
  #elected(process: Process, { clock, tap }: Candidate, term: Term): Promise<void> {
    const { election, fence } = term;
    this.elections++;
    this.#story.push(`  ${clock.mono()} ${process.name} elected in ${election}, fence ${fence}`);
    const highest = this.#fences.get(election) ?? 0n;
    if (fence <= highest) this.#story.push(`VIOLATION: fence ${fence} after ${highest}`);
    this.#fences.set(election, fence);
    const mine = tap.calls.findLast((call) => call.election === election && (call.name === "look" || call.name === "claim"));
    const running: Running = { term, session: mine?.session ?? "" };
    for (const other of this.#processes)
      for (const older of other.running) if (older.term.election === election) this.#checkReleased(other, older);
    process.running.add(running);
    this.#look();
    const longer = this.#pick([0, 0, 100, 1000, 6000]);
    return (async () => {
      if (!term.draining.aborted) await new Promise((resolve) => term.draining.addEventListener("abort", resolve, { once: true }));
      if (longer > 0) await sleep(clock, longer, new AbortController().signal);
      process.running.delete(running);
    })();
  }

  /** A seat is never given away under running work, except by the store's own timeout. */
  #checkReleased(other: Process, older: Running): void {
    this.checks++;
    if (this.#force) return;
    if (this.#world.server.snapshot().sessions.includes(older.session)) {
      this.#story.push(`VIOLATION: ${other.name} still works in term ${older.term.number}, its session lives`);
    }
  }

  /** No two believe at once. */
  #look(): void {
    this.checks++;
    if (this.#force) return;
    for (const at of this.#elections.keys()) {
      const leaders = this.#processes.filter(({ candidates, crashed }) => !crashed && candidates[at]?.elector.isLeader);
      if (leaders.length > 1)
        this.#story.push(`VIOLATION: ${leaders.map(({ name }) => name).join(" and ")} both lead at ${this.#world.clock.mono()}`);
    }
  }

  async #mishap(): Promise<void> {
    const process = this.#pick(this.#processes.filter(({ crashed }) => !crashed));
    const { elector, client, clock } = this.#pick(process.candidates);
    const befall = { elector, client, clock, world: this.#world, pick: this.#pick.bind(this) };
    const mishaps: Mishap[] = [
      ...mishapsOf(befall, this.#up),
      // Not both: a sleep after a step back shows on neither clock until a timer compares the uptime.
      this.#seed % 3 === 0 ? stepBack(befall) : sleepOf(befall),
      ["stops", () => this.#stop(process)],
      ["starts", () => this.#start(process)],
      ["crashes and is replaced", () => this.#crash(process)],
      ["finds the store stopped", () => this.#serve(false)],
      ["finds the store started", () => this.#serve(true)],
      ...(this.#force ? withoutGrace(befall) : []),
    ];
    const [what, happen] = this.#pick(mishaps);
    this.#story.push(`${this.#world.clock.mono()} ${elector.id} ${what}`);
    await happen();
  }

  #serve(up: boolean): void {
    this.#up = up;
    if (up) this.#world.server.start();
    else this.#world.server.stop();
  }

  #stop(process: Process): void {
    process.standing = false;
    for (const { elector } of process.candidates) void elector.stop();
  }

  #start(process: Process): void {
    if (process.standing || process.candidates.some(({ elector }) => elector.state !== "stopped")) return;
    process.standing = true;
    for (const { elector, told } of process.candidates) {
      told.push("started");
      elector.start();
    }
  }

  #crash(process: Process): void {
    if (this.#processes.length > 8) return;
    process.crashed = true;
    process.candidates[0]?.client.crash();
    process.candidates[0]?.clock.pause();
    this.#add(`${process.name}'`);
  }

  /** Everything works again: soon there is a leader, and one entry for each candidate that stands. */
  async #heal(): Promise<void> {
    this.#story.push(`${this.#world.clock.mono()} healed`);
    this.#serve(true);
    for (const { candidates, crashed } of this.#processes) {
      if (crashed) continue;
      candidates[0]?.client.unstrand();
      candidates[0]?.client.heal();
      candidates[0]?.client.release();
      await candidates[0]?.clock.resume();
    }
    const alive = this.#processes.filter(({ crashed, standing }) => !crashed && standing);
    const led = (at: number) => alive.length === 0 || alive.some(({ candidates }) => candidates[at]?.elector.isLeader);
    const leads = () => this.#elections.every((_, at) => led(at));
    // The longest work, a session's timeout with its lock-delay, a lost attempt, and the backoff of a reopening.
    await this.#world.clock.advanceUntil(leads, 6000 + TTL + 300 + TTL / 2 + 3000 + 2000).catch(() => {
      throw new Error(
        `no leader in time: ${alive.map(({ name, candidates }) => `${name} ${candidates.map(({ elector }) => elector.state)}`).join(", ")}`,
      );
    });
    await this.#world.clock.advance(6000 + 3 * TTL);
    const expected = alive.map(({ name }) => name).sort();
    for (const election of this.#elections) {
      const line = (await this.#world.line(election)).map((id) => id.replace("*", "")).sort();
      if (line.join() !== expected.join()) throw new Error(`the queue is ${line.join()} and should be ${expected.join()}`);
    }
    this.#look();
  }

  async #end(): Promise<void> {
    const violation = this.#story.find((line) => line.startsWith("VIOLATION"));
    if (violation) throw new Error(violation);
    // A process that is gone does not stop.
    const alive = this.#processes.filter(({ crashed }) => !crashed).flatMap(({ candidates }) => candidates);
    this.#world.candidates.splice(0, this.#world.candidates.length, ...alive);
    await this.#world.end();
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#roll() * from.length)] as T;
  }
}
