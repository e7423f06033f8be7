import type { Ender } from "../../src/clock.js";
import type { Card } from "../../src/store.js";
import type { Entry } from "./client/consul-wire.js";
import { type ElectionPaths, placeName } from "./consul-paths.js";
import { writePlace } from "./consul-record.js";
import { asStoreError, isRefused } from "./consul-requests.js";
import type { Surroundings } from "./consul-surroundings.js";
import { type Owner, readView, type View, viewOperations } from "./consul-view.js";

/** A join that the epoch refuses reads it and tries again; so often in one attempt. */
const TRIES = 3;

/**
 * My place in the queue of one election, taken once at most.
 * - `none`: surely not there
 * - `doubtful`: a join was sent and its outcome is not known
 * - `made`: joined on this session
 */
export class OwnPlace implements Owner {
  readonly session: string;
  readonly #around: Surroundings;
  readonly #card: Card;
  #state: "none" | "doubtful" | "made" = "none";
  #name = "";
  #epoch = 0;
  #createIndex = 0;
  #sent = false;

  constructor(around: Surroundings, card: Card) {
    this.#around = around;
    this.#card = card;
    this.session = around.session;
    // Metadata that is not JSON is told before anything is sent.
    writePlace(card, 0);
  }

  get state(): "none" | "doubtful" | "made" {
    return this.#state;
  }

  /** Whether it was ever sent with another outcome than that it was refused: then there is something to leave, or to pay. */
  get sent(): boolean {
    return this.#sent;
  }

  get name(): string {
    return this.#name;
  }

  get key(): string {
    return `${this.#around.paths.queue}${this.#name}`;
  }

  /** Where it is in the order; 0: not known. */
  get createIndex(): number {
    return this.#createIndex;
  }

  get paths(): ElectionPaths {
    return this.#around.paths;
  }

  /** Joins and looks in one transaction. Under a name that was never used before: whoever waits behind the one cannot mistake it for the other. */
  async join(signal: Ender): Promise<View> {
    const { requests, epoch, anchor, paths, nextCount } = this.#around;
    for (let tries = TRIES; ; tries--) {
      this.#name = placeName(this.session, nextCount());
      this.#state = "doubtful";
      const before = this.#sent;
      this.#sent = true;
      this.#epoch = epoch.index;
      const lock = { verb: "lock", key: this.key, value: writePlace(this.#card, anchor), session: this.session } as const;
      try {
        const results = await requests.write([epoch.check, lock, ...viewOperations(paths)], signal);
        this.#made((results[1] as Entry).createIndex);
        return readView(paths, results);
      } catch (error) {
        const refusedByEpoch = isRefused(error, "check", 0);
        if (asStoreError(error) !== error) {
          this.#state = "none";
          this.#sent = before;
        }
        if (!refusedByEpoch || tries === 0) throw asStoreError(error);
        await epoch.refresh(signal);
      }
    }
  }

  /** After this, a doubtful join can commit no more: what a look shows then is what came of it. */
  closeDoubt(signal: Ender): Promise<void> {
    return this.#around.epoch.close(this.#epoch, signal);
  }

  /** Settles a doubtful join by a view from behind {@link closeDoubt}, to `made` or `none`. */
  settle(view: View): void {
    if (this.isIn(view)) this.#made(view.queue.find(({ name }) => name === this.#name)?.createIndex ?? 0);
    else this.#state = "none";
  }

  /** Whether it is there, or was seated. */
  isIn({ queue, term }: View): boolean {
    return term?.entry === this.#name || queue.some(({ name }) => name === this.#name);
  }

  /** A letter says that this place was seated, so it was there. */
  wasSeated(): void {
    this.#made(this.#createIndex);
  }

  #made(createIndex: number): void {
    this.#state = "made";
    this.#createIndex = createIndex;
  }
}
