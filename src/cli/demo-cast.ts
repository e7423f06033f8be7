import type { MemoryClient } from "../../adapters/memory/index.js";
import { type Clock, sleep } from "../clock.js";
import { Elector } from "../elector.js";
import type { Term } from "../term.js";

/** Tells what `who` does. */
export type Tell = (who: string, text: string) => void;

/** What the leaders of the demonstration write to. It takes a write only if no newer term has written before. */
export class Ledger {
  #highest = 0n;
  readonly lines: { readonly fence: bigint; readonly who: string }[] = [];

  /** Whether the write was accepted. */
  write(fence: bigint, who: string): boolean {
    if (fence < this.#highest) return false;
    this.#highest = fence;
    this.lines.push({ fence, who });
    return true;
  }

  get highest(): bigint {
    return this.#highest;
  }
}

/** Between two writes of a leader, ms. */
const PACE = 250;

/** One candidate: what would be a process of its own, with its own way to the store. */
export class Player {
  readonly name: string;
  readonly client: MemoryClient;
  readonly elector: Elector;
  /** When, by the clock, its last term was over by its own clock. */
  overAt = Number.NaN;
  /** When its last term began. */
  electedAt = Number.NaN;
  readonly #clock: Clock;
  readonly #ledger: Ledger;
  readonly #tell: Tell;
  #dead = false;

  constructor(client: MemoryClient, clock: Clock, ledger: Ledger, tell: Tell) {
    this.name = client.name;
    this.client = client;
    this.#clock = clock;
    this.#ledger = ledger;
    this.#tell = tell;
    this.elector = new Elector({ store: client, election: "demo", id: this.name, drain: "1s", clock });
    this.elector.on("standby", () => this.#say("stands by"));
    this.elector.on("elected", (term) => this.#lead(term));
    this.elector.on("suspect", ({ remaining }) =>
      this.#say(`no answer from the store; leader for ${Math.round(remaining)} ms more at most`),
    );
    this.elector.on("draining", ({ reason }) => {
      if (reason === "yielded") this.#say("still no answer: starts no new work");
    });
    this.elector.on("lost", ({ term, reason }) => {
      this.overAt = clock.mono();
      this.#say(
        reason === "deadline" || reason === "overrun"
          ? `my deadline has passed: term ${term.number} is over, whatever the store thinks`
          : `term ${term.number} is over (${reason})`,
      );
    });
  }

  /** The process is gone: from now on it does nothing, and says nothing. */
  die(): void {
    this.#dead = true;
    this.client.crash();
  }

  #say(text: string): void {
    if (!this.#dead) this.#tell(this.name, text);
  }

  async #lead(term: Term): Promise<void> {
    this.electedAt = this.#clock.mono();
    this.#say(`elected: term ${term.number}, fence ${term.token}`);
    for (let count = 0; !term.draining.aborted && !this.#dead; count++) {
      const accepted = await term.guard(() => this.#ledger.write(term.fence, this.name)).catch(() => null);
      if (count === 0 && accepted) this.#say(`writes with fence ${term.token}: accepted`);
      await sleep(this.#clock, PACE, term.draining).catch(() => {});
    }
  }
}
