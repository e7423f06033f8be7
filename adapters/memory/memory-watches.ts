import type { Ender } from "../../src/clock.js";

/** What is fired when an entry goes. */
export function entryKey(guid: string): string {
  return `entry/${guid}`;
}

/** What is fired when another term is written down. */
export function termKey(election: string): string {
  return `term/${election}`;
}

/** Who waits for which thing to change. A watch fires once. */
export class Watches {
  readonly #table = new Map<string, Set<() => void>>();

  /** Calls `fire` once when one of `keys` is fired. Returns how to let go of it. */
  add(keys: readonly string[], fire: () => void): () => void {
    const release = () => {
      for (const key of keys) {
        const waiting = this.#table.get(key);
        waiting?.delete(once);
        if (waiting?.size === 0) this.#table.delete(key);
      }
    };
    const once = () => {
      release();
      fire();
    };
    for (const key of keys) {
      const waiting = this.#table.get(key);
      if (waiting) waiting.add(once);
      else this.#table.set(key, new Set([once]));
    }
    return release;
  }

  fire(key: string): void {
    for (const once of [...(this.#table.get(key) ?? [])]) once();
  }

  /** How many things are waited for. */
  get size(): number {
    return this.#table.size;
  }
}

/** One wait of a client for such a change. It settles also when the connection is made anew: nobody knows what was missed. */
export class Wait {
  #release: (() => void) | null = null;
  #over = false;
  #resolve: (() => void) | null = null;

  /** `arm` sets the watch at the server; skipped when the client has given up meanwhile. */
  arm(arm: () => () => void): void {
    if (!this.#over) this.#release = arm();
  }

  fire(): void {
    this.release();
    this.#resolve?.();
  }

  release(): void {
    this.#over = true;
    this.#release?.();
    this.#release = null;
  }

  /** Resolves once this has fired. */
  fired(signal: Ender): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.#over) return resolve();
      const onAbort = () => {
        this.release();
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#resolve = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
    });
  }
}
