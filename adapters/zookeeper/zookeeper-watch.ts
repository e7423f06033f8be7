import type { Ender } from "../../src/clock.js";
import { onAbort } from "./client/zookeeper-client-abort.js";
import { isZooKeeperError } from "./client/zookeeper-error.js";
import type { Watch } from "./client/zookeeper-wire.js";

/** What `watched` answers when nothing was missing: a watch fired. */
export const FIRED = -1;

/**
 * Waits until the first of `watches` or of those `lent` fires, and lets go of the former. If a watched node is missing, it answers its
 * index at once. `current` is asked when they are armed: false means that what they were to notice had happened before.
 */
export async function watched(
  watches: readonly Watch[],
  signal: Ender,
  lent: readonly Watch[] = [],
  current: () => boolean | Promise<boolean> = () => true,
): Promise<number> {
  const all = [...watches, ...lent];
  try {
    const armed = await Promise.allSettled(all.map((watch) => watch.armed));
    for (const [index, outcome] of armed.entries()) {
      if (outcome.status === "fulfilled") continue;
      if (isZooKeeperError(outcome.reason, "NONODE")) return index;
      throw outcome.reason;
    }
    if (await current()) await firstOf(all, signal);
    return FIRED;
  } finally {
    for (const watch of watches) watch.release();
  }
}

function firstOf(watches: readonly Watch[], signal: Ender): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const forget = onAbort(signal, () => reject(signal.reason));
    for (const { fired } of watches) {
      void fired.then(() => {
        forget();
        resolve();
      });
    }
  });
}

/** A watch that lasts over several waits: set when first asked for, and again when it has fired. */
export class LastingWatch<T> {
  readonly #set: (signal: Ender) => Watch<T>;
  #watch: Watch<T> | null = null;
  #armed = false;

  constructor(set: (signal: Ender) => Watch<T>) {
    this.#set = set;
  }

  /** Whether the server has set it and it has not fired: what is watched is as it was. */
  get live(): boolean {
    return this.#armed;
  }

  /** The watch, for one wait that must not release it. */
  lend(signal: Ender): Watch<T> {
    return this.#watch ?? this.#begin(signal);
  }

  release(): void {
    this.#watch?.release();
    this.#watch = null;
    this.#armed = false;
  }

  #begin(signal: Ender): Watch<T> {
    const watch = this.#set(signal);
    const forget = () => {
      if (this.#watch === watch) this.release();
    };
    this.#watch = watch;
    watch.armed.then(() => {
      if (this.#watch === watch) this.#armed = true;
    }, forget);
    void watch.fired.then(forget);
    return watch;
  }
}
