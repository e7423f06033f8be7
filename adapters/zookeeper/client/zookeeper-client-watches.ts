import type { Watch, Watched } from "./zookeeper-wire.js";

export type WatchKind = keyof Watched;

/** Which watches each type of notification uses up. Source: ClientCnxn / ZKWatchManager of ZooKeeper 3.9. */
const TYPES: Readonly<Record<number, readonly WatchKind[]>> = {
  1: ["data", "exists"],
  2: ["data", "exists", "children", "list"],
  3: ["data", "exists"],
  4: ["children", "list"],
};

/** One watch of a caller. An object without closures, and a bare entry in the map: there may be twenty thousand. */
export class PendingWatch<T> implements Watch<T> {
  armed!: Promise<T>;
  readonly fired: Promise<void>;
  fire!: () => void;
  #registered: { readonly watches: Watches; readonly key: string } | null = null;
  #released = false;

  constructor() {
    this.fired = new Promise((resolve) => {
      this.fire = resolve;
    });
  }

  /** The server has set it. */
  register(watches: Watches, kind: WatchKind, path: string): void {
    if (this.#released) return;
    const key = kind + path;
    this.#registered = { watches, key };
    watches.add(key, this);
  }

  release(): void {
    this.#released = true;
    this.#registered?.watches.remove(this.#registered.key, this);
    this.#registered = null;
  }
}

type Firing = Pick<PendingWatch<unknown>, "fire">;

/** The watches of one connection. Takes the place of the package's own, which never hears of an expiry and keeps what nobody wants. */
export class Watches {
  /** Nearly always one a path. */
  readonly #waiting = new Map<string, Firing | Set<Firing>>();

  /** Fires `watch` once: on the event, or when the connection ends. */
  add(key: string, watch: Firing): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) this.#waiting.set(key, watch);
    else if (waiting instanceof Set) waiting.add(watch);
    else this.#waiting.set(key, new Set([waiting, watch]));
  }

  remove(key: string, watch: Firing): void {
    const waiting = this.#waiting.get(key);
    if (waiting instanceof Set) {
      waiting.delete(watch);
      if (waiting.size > 0) return;
    } else if (waiting !== watch) {
      return;
    }
    this.#waiting.delete(key);
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
    if (waiting instanceof Set) for (const watch of waiting) watch.fire();
    else waiting?.fire();
  }
}
