import type { Ender } from "../../src/clock.js";
import type { Entry, Operation } from "./client/consul-wire.js";
import { unique } from "./consul-record.js";
import type { Requests } from "./consul-requests.js";

/**
 * Makes late joins harmless. A join that we gave up may still commit later, after a look that did not show it (measured: behind
 * a frozen server leader 10 of 10). So each join checks the index of one key of this session, and after a doubtful one that
 * key is written *before* the look that is to find out: an earlier join can then no longer commit.
 */
export class Epoch {
  readonly #requests: Requests;
  readonly #key: string;
  readonly #session: string;
  #index: number;

  constructor(requests: Requests, key: string, session: string, index: number) {
    this.#requests = requests;
    this.#key = key;
    this.#session = session;
    this.#index = index;
  }

  /** What a join made now must carry. */
  get index(): number {
    return this.#index;
  }

  get check(): Operation {
    return { verb: "check-index", key: this.#key, index: this.#index };
  }

  /** Resolves once no join of an epoch up to `index` can commit any more. */
  async close(index: number, signal: Ender): Promise<void> {
    while (this.#index <= index) await this.#raise(signal);
  }

  /** After a join that the epoch refused: a write of ours whose reply was lost has raised it, or somebody has deleted the key. */
  async refresh(signal: Ender): Promise<void> {
    const [entry] = await this.#requests.read([{ verb: "get-or-empty", key: this.#key }], signal);
    if (entry) this.#index = (entry as Entry).modifyIndex;
    else await this.#raise(signal);
  }

  async #raise(signal: Ender): Promise<void> {
    const [entry] = await this.#requests.write([{ verb: "lock", key: this.#key, value: unique(), session: this.#session }], signal);
    this.#index = Math.max(this.#index, (entry as Entry).modifyIndex);
  }
}
