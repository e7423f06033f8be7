import type { Ender } from "../../src/clock.js";
import type { Entry, Operation } from "./client/consul-wire.js";
import { letterOperation, tell } from "./consul-letters.js";
import type { OwnPlace } from "./consul-place.js";
import { writeLock, writeTerm } from "./consul-record.js";
import { asStoreError, isRefused } from "./consul-requests.js";
import type { Surroundings } from "./consul-surroundings.js";
import { type ConsulHeld, heldOf, holds, readQueue, readView, type View, viewOperations, type Waiter } from "./consul-view.js";

/** The lock of nobody. */
const FREE = writeLock({ entry: null, anchor: 0, stead: null });

/**
 * What is left to do:
 * - `seat`: the seat is mine, as far as is known
 * - `place`: I may stand in the queue, and the seat may have been handed to me
 * - `owing`: neither, as far as is known; whoever is first may not know of it
 * - `telling`: only letters
 */
type Stage =
  | { readonly kind: "seat"; readonly seat: ConsulHeld }
  | { readonly kind: "place" }
  | { readonly kind: "owing" }
  | { readonly kind: "telling"; readonly sessions: readonly string[] }
  | { readonly kind: "done" };

/** Giving up seat and place, and paying what is owed for it. Each step can be repeated after a failure at any point. */
export class Leaving {
  readonly #around: Surroundings;
  readonly #own: OwnPlace;
  #stage: Stage | null = null;
  /** The first of those who wait. Once known it stays the first for as long as it is there: whoever joins later is behind it. */
  #next: Waiter | null = null;

  constructor(around: Surroundings, own: OwnPlace) {
    this.#around = around;
    this.#own = own;
  }

  /** Takes note of who is next. */
  knows({ queue }: View): void {
    this.#next = queue.find(({ name }) => name !== this.#own.name) ?? null;
  }

  /** Reads who is next, unless that is known. */
  async prepare(signal: Ender): Promise<void> {
    if (this.#next === null) this.knows(await this.#view(signal));
  }

  /** `seat`: the seat that I hold, as far as is known; null: none. */
  async leave(seat: ConsulHeld | null, how: "hand-over" | "free", signal: Ender): Promise<void> {
    if (this.#stage === null && !this.#own.sent) this.#stage = { kind: "done" };
    // A late join of a session that has been replaced goes with that session.
    const mayCome = this.#own.state === "doubtful" && this.#own.session === this.#around.session;
    if (this.#stage === null && mayCome) await this.#own.closeDoubt(signal);
    this.#stage ??= seat === null ? { kind: "place" } : { kind: "seat", seat };
    while (this.#stage.kind !== "done") this.#stage = await this.#step(this.#stage, how, signal);
    const { seated, paths } = this.#around;
    if (seated.get(paths.election) === this.#own.name) seated.delete(paths.election);
  }

  async #step(stage: Exclude<Stage, { kind: "done" }>, how: "hand-over" | "free", signal: Ender): Promise<Stage> {
    switch (stage.kind) {
      case "seat": {
        // Without a reply, a look has to tell whether the seat is still mine.
        this.#stage = { kind: "owing" };
        const handed = how === "hand-over" ? await this.#handOver(stage.seat, signal) : "refused";
        if (handed === "done") return { kind: "done" };
        if (handed === "not mine") return { kind: "owing" };
        return this.#free({ verb: "check-index", key: this.#around.paths.term, index: Number(stage.seat.fence) }, signal);
      }
      case "place":
        return this.#leaveQueue(signal);
      case "owing":
        return this.#settle(how, signal);
      case "telling":
        await tell(this.#around, stage.sessions, signal);
        return { kind: "done" };
    }
  }

  /** Seats the next in line, and tells it, in one raft entry. */
  async #handOver({ number, fence, extra }: ConsulHeld, signal: Ender): Promise<"done" | "refused" | "not mine"> {
    const { requests, clock, prefix, paths } = this.#around;
    for (let attempt = 0; attempt < 2; attempt++) {
      await this.prepare(signal);
      const next = this.#next;
      this.#next = null;
      if (next === null) return "refused";
      const { name: entry, session, id, metadata } = next;
      const key = `${paths.queue}${entry}`;
      const term = writeTerm({ extra, number: number + 1, entry, session, id, metadata, since: new Date(clock.wall()) });
      const operations: Operation[] = [
        { verb: "check-session", key, session },
        { verb: "unlock", key: paths.leader, value: FREE, session: this.#own.session },
        { verb: "lock", key: paths.leader, value: writeLock({ entry, anchor: next.anchor, stead: null }), session },
        { verb: "cas", key: paths.term, value: term, index: Number(fence) },
        { verb: "delete", key },
        letterOperation(prefix, session, paths.election, { entry, number: number + 1 }),
      ];
      try {
        await requests.write(operations, signal);
        return "done";
      } catch (error) {
        if (isRefused(error, "check", 1) || isRefused(error, "check", 3)) return "not mine";
        if (isRefused(error, "check", 0) || isRefused(error, "session")) continue;
        // By a lock-delay that a restarted server remembers, say: the seat can still be freed.
        if (asStoreError(error) === error) throw error;
        return "refused";
      }
    }
    return "refused";
  }

  /**
   * Frees the seat, and sees in the same transaction whether somebody waits: a bare unlock after a list that was empty leaves
   * whoever joined in between waiting for ever. `guard` refuses it when it comes late, under another term (REPORT C8a).
   */
  async #free(guard: Operation, signal: Ender): Promise<Stage> {
    const { requests, paths } = this.#around;
    const operations: Operation[] = [
      guard,
      { verb: "unlock", key: paths.leader, value: FREE, session: this.#own.session },
      { verb: "get-tree", key: paths.queue },
    ];
    try {
      const [, , tree] = await requests.write(operations, signal);
      const [first] = readQueue(paths, tree as readonly Entry[]);
      return first ? { kind: "telling", sessions: [first.session] } : { kind: "done" };
    } catch (error) {
      if (isRefused(error, "check")) return { kind: "owing" };
      throw asStoreError(error);
    }
  }

  /** In one transaction: after it nothing can be granted to me any more, and it shows whether something was (REPORT C4). */
  async #leaveQueue(signal: Ender): Promise<Stage> {
    const { requests, paths } = this.#around;
    const { key, session } = this.#own;
    const operations: Operation[] = [{ verb: "check-session", key, session }, { verb: "delete", key }, ...viewOperations(paths)];
    try {
      const behind = this.#behind(readView(paths, await requests.write(operations, signal)));
      return behind ? { kind: "telling", sessions: [behind.session] } : { kind: "done" };
    } catch (error) {
      // It was seated, or evicted, or an attempt without a reply has deleted it.
      if (isRefused(error, "check", 0)) return { kind: "owing" };
      throw asStoreError(error);
    }
  }

  async #settle(how: "hand-over" | "free", signal: Ender): Promise<Stage> {
    const view = await this.#view(signal);
    if (!holds(view, this.#own) && !this.#isNameless(view)) return this.#debtIn(view);
    const seat = this.#seatIn(view);
    if (seat && how === "hand-over") return seat;
    // Somebody has overwritten or removed `term`: the lock's own index says as well that nobody has been seated since.
    return this.#free({ verb: "check-index", key: this.#around.paths.leader, index: view.lock?.modifyIndex ?? 0 }, signal);
  }

  /** The lock is my session's, and somebody has overwritten what said whose: it was mine, unless another place of this session was seated since. */
  #isNameless({ lock, holder, term }: View): boolean {
    const { session, name } = this.#own;
    if (lock?.session !== session || term?.session === session || holder?.entry != null) return false;
    return this.#around.seated.get(this.#around.paths.election) === name;
  }

  #seatIn(view: View): Stage | null {
    if (view.term === null || view.term.entry !== this.#own.name || !holds(view, this.#own)) return null;
    this.knows(view);
    return { kind: "seat", seat: heldOf(this.#around.paths, view, view.term) };
  }

  /** The debt rule: the first, and whoever was behind me, may have waited for me. */
  #debtIn(view: View): Stage {
    const first = view.queue.find(({ name }) => name !== this.#own.name);
    return { kind: "telling", sessions: [first, this.#behind(view)].flatMap((one) => (one ? [one.session] : [])) };
  }

  #behind({ queue }: View): Waiter | undefined {
    return queue.find(({ name, createIndex }) => name !== this.#own.name && createIndex >= this.#own.createIndex);
  }

  async #view(signal: Ender): Promise<View> {
    const { requests, paths } = this.#around;
    return readView(paths, await requests.read(viewOperations(paths), signal));
  }
}
