import type { Watched } from "./zookeeper-wire.js";

export type WatchKind = keyof Watched;

/** Which watches each type of notification uses up. Source: ClientCnxn / ZKWatchManager of ZooKeeper 3.9. */
const TYPES: Readonly<Record<number, readonly WatchKind[]>> = {
  1: ["data", "exists"],
  2: ["data", "exists", "children"],
  3: ["data", "exists"],
  4: ["children"],
};

/** The watches of one connection. Takes the place of the package's own, which never hears of an expiry and keeps what nobody wants. */
export class Watches {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Calls `fire` once: on the event, or when the connection ends. Returns what lets go of it. */
  add(kind: WatchKind, path: string, fire: () => void): () => void {
    const key = kind + path;
    let waiting = this.#waiting.get(key);
    if (waiting === undefined) this.#waiting.set(key, (waiting = new Set()));
    waiting.add(fire);
    return () => {
      waiting.delete(fire);
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    };
  }

  /** A notification came. Types that are not known are ignored. */
  notify(type: number, path: string): void {
    for (const kind of TYPES[type] ?? []) this.#fire(kind + path);
  }

  /** The connection has ended. */
  fireAll(): void {
    for (const key of [...this.#waiting.keys()]) this.#fire(key);
  }

  #fire(key: string): void {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    for (const fire of waiting ?? []) fire();
  }
}
