import type { Ender } from "../../src/clock.js";
import type { Operation, Watch, Watched } from "./client/zookeeper-wire.js";
import type { OwnEntry } from "./zookeeper-entry.js";
import { orMissing, readQueue } from "./zookeeper-list.js";
import type { ZooKeeperHeld } from "./zookeeper-places.js";
import { writeTerm } from "./zookeeper-record.js";
import { isRefusal } from "./zookeeper-refusals.js";
import { tolerate } from "./zookeeper-requests.js";
import type { Surroundings } from "./zookeeper-surroundings.js";
import { LastingWatch } from "./zookeeper-watch.js";

interface Following {
  over: boolean;
  asking: Promise<void> | null;
}

/** Giving up seat and place. Each step can be repeated after a failure at any point. */
export class Leaving {
  readonly #around: Surroundings;
  readonly #entry: OwnEntry;
  /** The first of the others. Once known it stays the first for as long as it is there: whoever joins later is behind it. */
  #next: string | null = null;
  /** On the list that showed nobody but me: nobody has joined while it stands. One watcher an election, so no herd. */
  readonly #alone: LastingWatch<Watched["list"]>;
  /** The watch whose list was read, and showed nobody else: it may have fired since, and another been set in its place. */
  #nobody: Watch<Watched["list"]> | null = null;
  #left = false;

  constructor(around: Surroundings, entry: OwnEntry) {
    this.#around = around;
    this.#entry = entry;
    this.#alone = new LastingWatch((signal) => around.requests.watch("list", around.paths.candidates, signal));
  }

  /** Reads who is next, unless that is known. */
  async prepare(signal: Ender): Promise<void> {
    if (this.#next !== null) return;
    const watch = this.#alone.lend(signal);
    if (this.#alone.live && watch === this.#nobody) return;
    const list = await tolerate(watch.armed, "NONODE");
    this.#next = await this.#firstOf(list?.children ?? [], signal);
    this.#nobody = this.#next === null ? watch : null;
    if (this.#next !== null) this.#alone.release();
  }

  /**
   * From the election on: finds out who is next as soon as anybody is, so that a hand-over is one write. When it fails, the
   * hand-over asks. Returns what ends it, once nothing of it is on its way any more.
   */
  follow(signal: Ender): () => Promise<void> {
    const following: Following = { over: false, asking: null };
    void this.#follow(following, signal).catch(() => {});
    return async () => {
      following.over = true;
      await following.asking?.catch(() => {});
    };
  }

  async #follow(following: Following, signal: Ender): Promise<void> {
    while (this.#next === null) {
      await this.#around.calm.comes();
      if (following.over || this.#left || signal.aborted) return;
      following.asking = this.prepare(signal);
      await following.asking;
      if (following.over || this.#next !== null) return;
      await this.#nobody?.fired;
    }
  }

  /** Leaves; `seat` is handed on to the next in line if there is one. */
  async leave(seat: ZooKeeperHeld | null, signal: Ender): Promise<void> {
    if (!this.#entry.sent || this.#left) return;
    // A list that the term's end has given up is none to wait for.
    if (!this.#alone.live) this.#alone.release();
    if (this.#entry.state === "doubtful") await this.#settle(signal);
    if (this.#entry.state === "made") {
      const handedOn = seat !== null && (await this.#handOver(seat, signal));
      // The plain delete wakes who is behind me, and it claims. Somebody else may have done it, or an attempt without a reply.
      if (!handedOn) await tolerate(this.#around.requests.write([this.#delete()], signal), "NONODE");
    }
    this.#alone.release();
    this.#left = true;
  }

  /** An entry that nobody knows of would get the seat later and keep it for as long as the session lives. */
  async #settle(signal: Ender): Promise<void> {
    const { requests, paths } = this.#around;
    const [synced, list] = await Promise.allSettled([
      requests.sync(paths.candidates, signal),
      requests.getChildren(paths.candidates, signal),
    ]);
    if (synced.status === "rejected") throw synced.reason;
    this.#entry.settle(orMissing(list)?.children ?? []);
  }

  /**
   * Seats the next in line and deletes my entry in one write, so that the seat is never empty. False: it stays with a
   * plain delete, because nobody waits, the term is not mine any more, or the next one went away twice.
   */
  async #handOver(seat: ZooKeeperHeld, signal: Ender): Promise<boolean> {
    const { requests, paths, clock } = this.#around;
    for (let attempt = 0; attempt < 2; attempt++) {
      // Only to the first of the others: any other one watches an entry that stays, and would not be told.
      await this.prepare(signal);
      const next = this.#next;
      this.#next = null;
      if (next === null) return false;
      const operations: Operation[] = [
        { op: "check", path: paths.entry(next), version: -1 },
        this.#delete(),
        { op: "setData", path: paths.term, data: writeTerm(next, clock.wall(), seat.extra), version: seat.handle.version },
      ];
      try {
        await requests.write(operations, signal);
        return true;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const nextHasGone = error.zk === "NONODE" && error.index === 0;
        if (!nextHasGone) return false;
      }
    }
    return false;
  }

  async #firstOf(children: readonly string[], signal: Ender): Promise<string | null> {
    const { requests, paths } = this.#around;
    const { order } = await readQueue(requests, paths, children, signal);
    return order.find(({ name }) => name !== this.#entry.name)?.name ?? null;
  }

  #delete(): Operation {
    return { op: "delete", path: this.#entry.path, version: -1 };
  }
}
