import { type ElectionState, EMPTY } from "./memory-state.js";

/** How many old states of an election a lagging replica can still show. */
const DEPTH = 32;

interface Kept {
  readonly version: bigint;
  readonly state: ElectionState;
}

/** Every election's states, the newest and some before it. */
export class History {
  readonly #elections = new Map<string, Kept[]>();

  /** The newest state. */
  now(election: string): ElectionState {
    return this.#elections.get(election)?.at(-1)?.state ?? EMPTY;
  }

  /** The state as of `version`; the oldest that is still kept, if that is younger. */
  at(election: string, version: bigint): ElectionState {
    const kept = this.#elections.get(election) ?? [];
    const found = kept.findLast((one) => one.version <= version);
    if (found) return found.state;
    return kept.length < DEPTH ? EMPTY : (kept[0]?.state ?? EMPTY);
  }

  add(election: string, version: bigint, state: ElectionState): void {
    const kept = this.#elections.get(election);
    if (!kept) {
      this.#elections.set(election, [{ version, state }]);
      return;
    }
    kept.push({ version, state });
    if (kept.length > DEPTH) kept.shift();
  }

  get elections(): string[] {
    return [...this.#elections.keys()];
  }

  clear(): void {
    this.#elections.clear();
  }
}
