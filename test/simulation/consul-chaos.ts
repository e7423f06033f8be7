import { NEVER } from "../../adapters/consul/consul-lifetime.js";
import { ConsulStore } from "../../adapters/consul/consul-store.js";
import { sleep } from "../../src/clock.js";
import { Elector } from "../../src/elector.js";
import type { ElectorEvents } from "../../src/events.js";
import { ManualClock } from "../../src/manual-clock.js";
import type { Term } from "../../src/term.js";
import { dice } from "../unit/support/dice.js";
import { checkGrammar } from "../unit/support/grammar.js";
import { ModelNetwork } from "./consul-model/model-client.js";
import { ModelServer } from "./consul-model/model-server.js";

const TTL = 4000;
const PREFIX = "t";
const EVENTS = ["standby", "elected", "suspect", "restored", "draining", "lost", "stopped"] as const;

interface Candidate {
  readonly elector: Elector;
  readonly told: string[];
}

/** A process: its clock, its way to Consul, and a candidate in each election. */
interface Process {
  readonly name: string;
  readonly clock: ManualClock;
  readonly network: ModelNetwork;
  readonly candidates: readonly Candidate[];
  readonly running: Set<Term>;
  crashed: boolean;
  standing: boolean;
}

/** The real adapter and the real elector on a model of Consul, and a few dozen seeded mishaps. Throws what went wrong, with the seed. */
export class ConsulChaos {
  readonly #seed: number;
  readonly #roll: () => number;
  readonly #force: boolean;
  readonly #clock: ManualClock;
  readonly #server: ModelServer;
  readonly #lockDelay: number;
  readonly #elections: readonly string[];
  readonly #processes: Process[] = [];
  readonly #story: string[] = [];
  readonly #fences = new Map<string, bigint>();
  checks = 0;
  elections = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#roll = dice(seed);
    // Takes seats away without grace, and freezes machines: then two may believe at once, for a while.
    this.#force = seed % 4 === 3;
    this.#elections = seed % 5 === 0 ? ["e0", "e1", "e2"] : ["e0"];
    this.#lockDelay = this.#pick([0, 300, 1000]);
    this.#clock = new ManualClock({ seed });
    this.#server = new ModelServer(this.#clock, this.#roll);
    this.#server.onAct = () => this.#look();
  }

  get story(): string {
    return this.#story.join("\n");
  }

  async run(steps: number): Promise<void> {
    const onRejection = (reason: unknown) => void this.#story.push(`VIOLATION: unhandled rejection ${(reason as Error)?.stack ?? reason}`);
    process.on("unhandledRejection", onRejection);
    try {
      const count = 2 + Math.floor(this.#roll() * 3);
      for (let i = 0; i < count; i++) this.#add(`c${i}`);
      for (let step = 0; step < steps; step++) {
        await this.#mishap();
        await this.#clock.advance(Math.floor(this.#roll() ** 2 * 2000));
        this.#look();
      }
      await this.#heal();
      await this.#end();
    } catch (error) {
      throw new Error(`seed ${this.#seed}: ${(error as Error).message}\n${this.story}`, { cause: error });
    } finally {
      process.off("unhandledRejection", onRejection);
    }
  }

  #add(name: string): void {
    const clock = this.#clock.process({ seed: 1 + Math.floor(this.#roll() * 2 ** 30) });
    const network = new ModelNetwork(this.#server, this.#roll);
    network.latency = this.#pick([0, 3, 20]);
    const client = { address: "", token: null, datacenter: null, namespace: null, partition: null, tls: null, requestTimeout: 10_000 };
    const settings = { name, prefix: PREFIX, ttl: TTL, lockDelay: this.#lockDelay, checks: [], node: null, client };
    const store = new ConsulStore(settings, async (_, clock) => network.client(clock));
    const candidates = this.#elections.map((election): Candidate => {
      const drain = this.#pick([0, 500, 5000]);
      return { elector: new Elector({ store, election, id: name, clock, drain }), told: [] };
    });
    const process: Process = { name, clock, network, candidates, running: new Set(), crashed: false, standing: true };
    for (const { elector, told } of candidates) {
      for (const event of EVENTS) {
        elector.on(event as keyof ElectorEvents, (detail: unknown) => {
          const reason = (detail as { reason?: string } | undefined)?.reason;
          told.push(reason ? `${event}:${reason}` : event);
          if (event === "lost") this.#tell(`  ${name} lost ${elector.election}: ${reason}`);
        });
      }
      elector.on("warning", (error) => this.#tell(`  ${name} warning: ${error.message}`));
      elector.on("elected", (term) => this.#elected(process, elector, term));
      elector.start();
    }
    this.#processes.push(process);
  }

  /** The work: until it is drained, and a little longer, sometimes too long. */
  #elected(process: Process, elector: Elector, term: Term): Promise<void> {
    const { election, fence } = term;
    this.elections++;
    this.#tell(`  ${process.name} elected in ${election}, fence ${fence}`);
    const highest = this.#fences.get(election) ?? 0n;
    if (fence <= highest) this.#tell(`VIOLATION: fence ${fence} after ${highest}`);
    this.#fences.set(election, fence);
    for (const other of this.#processes)
      for (const older of other.running) if (older.election === election) this.#checkReleased(other, older, elector);
    process.running.add(term);
    this.#look();
    const longer = this.#pick([0, 0, 100, 1000, 6000]);
    return (async () => {
      if (!term.draining.aborted) await new Promise((resolve) => term.draining.addEventListener("abort", resolve, { once: true }));
      if (longer > 0) await sleep(process.clock, longer, NEVER);
      process.running.delete(term);
    })();
  }

  /** A seat is never given away under running work, except by the store's own timeout. */
  #checkReleased(other: Process, older: Term, elector: Elector): void {
    this.checks++;
    if (this.#force || other.crashed) return;
    if (older.valid) this.#tell(`VIOLATION: ${elector.id} is elected while ${other.name} works in a valid term ${older.number}`);
  }

  /** No two believe at once. */
  #look(): void {
    this.checks++;
    if (this.#force) return;
    for (const at of this.#elections.keys()) {
      const leaders = this.#processes.filter(({ candidates, crashed }) => !crashed && candidates[at]?.elector.isLeader);
      if (leaders.length > 1) this.#tell(`VIOLATION: ${leaders.map(({ name }) => name).join(" and ")} both lead`);
    }
  }

  async #mishap(): Promise<void> {
    const process = this.#pick(this.#processes.filter(({ crashed }) => !crashed));
    const { network, clock } = process;
    const { elector } = this.#pick(process.candidates);
    const mishaps: (readonly [string, () => void | Promise<void>])[] = [
      ["is cut off", () => network.partition()],
      ["is reached again", () => network.heal()],
      ["is reached again", () => network.heal()],
      ["is paused", () => this.#pause(process)],
      ["goes on", () => this.#resume(process, true)],
      ["goes on, timers first", () => this.#resume(process, false)],
      ["has its requests held", () => network.holdRequests()],
      ["has its replies held", () => network.holdReplies()],
      ["has everything released", () => network.release()],
      ["has everything released", () => network.release()],
      ["loses a reply", () => network.loseReply()],
      ["loses a reply", () => network.loseReply()],
      ["has transactions come late", () => network.late(this.#pick([1, 2, 3]), this.#pick([1500, 2500, 5000, 9000]))],
      ["has transactions come late", () => network.late(1, this.#pick([1500, 2500, 5000]))],
      ["resigns", () => void elector.resign()],
      ["resigns", () => void elector.resign()],
      ["has its wall clock set forward", () => clock.stepWall(this.#pick([500, 5000]))],
      this.#seed % 3 === 0
        ? ["has its wall clock set back", () => clock.stepWall(-this.#pick([500, 50_000]))]
        : ["sleeps", () => clock.suspend(this.#pick([300, 3000, 9000]))],
      ["stops", () => this.#stop(process)],
      ["starts", () => this.#start(process)],
      ["crashes and is replaced", () => this.#crash(process)],
      ["finds no leader of the servers", () => this.#setUp(false)],
      ["finds a leader of the servers", () => this.#setUp(true)],
      ["finds a leader of the servers", () => this.#setUp(true)],
      ["finds the leader of the servers frozen", () => this.#server.freeze()],
      ["finds the leader of the servers going on", () => this.#server.thaw()],
      ["finds the leader of the servers going on", () => this.#server.thaw()],
      ...(this.#force ? this.#withoutGrace(elector, clock) : []),
    ];
    const [what, happen] = this.#pick(mishaps);
    this.#tell(`${elector.id} ${what}`);
    await happen();
  }

  #withoutGrace(elector: Elector, clock: ManualClock): [string, () => void | Promise<void>][] {
    const base = `${PREFIX}/${elector.election}`;
    const removed = (prefix: string) => this.#server.change((state) => state.remove(prefix));
    const any = (prefix: string) => this.#pick(this.#server.state.tree(prefix))?.key ?? "nothing";
    return [
      ["has the lock deleted", () => removed(`${base}/leader`)],
      ["has a place deleted", () => removed(any(`${base}/queue/`))],
      ["has the term deleted", () => removed(`${base}/term`)],
      ["has everything deleted", () => removed(`${base}/`)],
      ["has a session's key deleted", () => removed(any(`${PREFIX}/_session/`))],
      ["has a letter deleted", () => removed(any(`${PREFIX}/_mail/`))],
      ["has a session destroyed", () => this.#server.destroy(this.#pick([...this.#server.state.sessions.keys()]) ?? "")],
      ["has the lock overwritten", () => this.#server.change((state) => state.put(`${base}/leader`, "foreign"))],
      ["is frozen", () => clock.freeze(this.#pick([300, 6000]))],
    ];
  }

  #setUp(up: boolean): void {
    this.#server.up = up;
  }

  #pause({ clock, network }: Process): void {
    clock.pause();
    network.holdReplies();
  }

  async #resume({ clock, network }: Process, repliesFirst: boolean): Promise<void> {
    if (repliesFirst) network.release();
    await clock.resume();
    network.release();
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
    process.network.crash();
    process.clock.pause();
    this.#add(`${process.name}'`);
  }

  /** Everything works again: soon there is a leader, and one place for each candidate that stands. */
  async #heal(): Promise<void> {
    this.#tell("healed");
    this.#setUp(true);
    this.#server.thaw();
    for (const { network, clock, crashed } of this.#processes) {
      if (crashed) continue;
      network.late(0, 0);
      network.heal();
      network.release();
      await clock.resume();
    }
    const alive = this.#processes.filter(({ crashed, standing }) => !crashed && standing);
    const led = (at: number) => alive.length === 0 || alive.some(({ candidates }) => candidates[at]?.elector.isLeader);
    // The longest work, twice a ttl with the lock-delay, a lost attempt, and the backoff of a reopening.
    const bound = 6000 + 2 * TTL + this.#lockDelay + TTL + 3000 + 2000;
    await this.#clock
      .advanceUntil(() => [...this.#elections.keys()].every(led), bound)
      .catch(() => {
        const states = alive.map(({ name, candidates }) => `${name} ${candidates.map(({ elector }) => elector.state)}`).join(", ");
        throw new Error(`no leader within ${bound} ms: ${states}; ${this.#show()}`);
      });
    await this.#clock.advance(6000 + 5 * TTL);
    this.#checkStore(alive);
    this.#look();
  }

  #checkStore(alive: readonly Process[]): void {
    const expected = alive.map(({ name }) => name).sort();
    for (const [at, election] of this.#elections.entries()) {
      const base = `${PREFIX}/${election}`;
      const waiting = this.#server.state.tree(`${base}/queue/`).map(({ value }) => (JSON.parse(value) as { id: string }).id);
      const lock = this.#server.state.pairs.get(`${base}/leader`);
      const term = this.#server.state.pairs.get(`${base}/term`);
      const holder = lock?.session && term ? [(JSON.parse(term.value) as { id: string }).id] : [];
      const line = [...holder, ...waiting].sort();
      if (line.join() !== expected.join())
        throw new Error(`${election}: ${line.join()} stand and should be ${expected.join()}; ${this.#show()}`);
      const leads = alive.find(({ candidates }) => candidates[at]?.elector.isLeader);
      if (leads?.name !== holder[0]) throw new Error(`${election}: ${leads?.name} leads and ${holder[0]} holds the lock`);
    }
  }

  async #end(): Promise<void> {
    const alive = this.#processes.filter(({ crashed }) => !crashed);
    let left = 0;
    for (const { candidates } of alive) {
      for (const { elector } of candidates) {
        left++;
        void elector.stop().then(() => left--);
      }
    }
    await this.#clock.advanceUntil(() => left === 0, 60_000);
    await this.#clock.advance(3 * TTL);
    const violation = this.#story.find((line) => line.includes("VIOLATION"));
    if (violation) throw new Error(violation);
    for (const { name, clock } of alive) if (clock.pending > 0) throw new Error(`${name}: ${clock.pending} timers are left`);
    const { sessions } = this.#server.state;
    if (sessions.size > 0) throw new Error(`${sessions.size} sessions are left`);
    const rest = this.#server.state.tree("").filter(({ key }) => !/\/(leader|term)$/.test(key));
    if (rest.length > 0) throw new Error(`left behind: ${rest.map(({ key }) => key).join(", ")}`);
    for (const { candidates } of alive) for (const { elector, told } of candidates) checkGrammar(elector.id, told);
  }

  #show(): string {
    return JSON.stringify(this.#server.state.tree(PREFIX).map(({ key, value, session }) => [key, session, value.slice(0, 80)]));
  }

  #tell(what: string): void {
    this.#story.push(`${this.#clock.mono()} ${what}`);
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#roll() * from.length)] as T;
  }
}
