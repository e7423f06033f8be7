import type { Ender } from "../../src/clock.js";
import type { Card, Contender, HeadPlace, HeldPlace, Place, Refused } from "../../src/store.js";
import { isZooKeeperError } from "./client/zookeeper-error.js";
import type { Operation, Watched, ZooKeeperStat } from "./client/zookeeper-wire.js";
import { OwnEntry } from "./zookeeper-entry.js";
import { Leaving } from "./zookeeper-leaving.js";
import { Looking } from "./zookeeper-looking.js";
import type { ZooKeeperBehind, ZooKeeperHead, ZooKeeperHeld } from "./zookeeper-places.js";
import { writeCard, writeTerm } from "./zookeeper-record.js";
import { tolerate } from "./zookeeper-requests.js";
import type { Surroundings } from "./zookeeper-surroundings.js";
import { termOf } from "./zookeeper-term.js";
import { LastingWatch, watched } from "./zookeeper-watch.js";

/** One candidacy. It holds what it knows of its own entry and seat; the protocol is in the files for looking and leaving. */
export class ZooKeeperContender implements Contender {
  readonly #around: Surroundings;
  readonly #entry: OwnEntry;
  readonly #looking: Looking;
  readonly #leaving: Leaving;
  /** On my entry, from the first wait to the end: who waits and who leads must know when it has gone. */
  readonly #own: LastingWatch<Watched["children"]>;
  /** On `term`, from the look that found the seat handed to me. */
  readonly #term: LastingWatch<Watched["data"]>;
  #place: ZooKeeperHeld | ZooKeeperBehind | null = null;

  constructor(around: Surroundings, card: Card, replaces: ZooKeeperContender | null) {
    const { requests, paths } = around;
    this.#around = around;
    this.#entry = new OwnEntry(requests, paths, writeCard(card));
    // An entry of this very session is none that an earlier session left behind.
    const old = replaces !== null && replaces.#around.requests !== requests ? replaces.#entry : null;
    this.#looking = new Looking(around, this.#entry, old);
    this.#leaving = new Leaving(around, this.#entry);
    this.#own = new LastingWatch((signal) => requests.watch("children", this.#entry.path, signal));
    this.#term = new LastingWatch((signal) => requests.watch("data", paths.term, signal));
  }

  async look(signal: Ender): Promise<Place> {
    this.#around.calm.disturb();
    const handedToMe = this.#mayBeHanded ? await this.#handedToMe(signal) : null;
    const place = handedToMe ?? (await this.#looking.look(signal));
    this.#place = place.kind === "held" || place.kind === "behind" ? place : null;
    return place;
  }

  /**
   * For a place behind: waits for the entry before mine to go, and for mine. A **children** watch, because entries have
   * no children: it fires when the entry goes, writing to the entry does not use it up, and it leaves nothing behind if
   * the entry has gone already. For any other place there is nothing to wait for: a claim is refused because `term` or my
   * entry has changed since, so the next look shows something else.
   */
  async moved(place: Place, signal: Ender): Promise<void> {
    if (place.kind !== "behind") return;
    const { predecessor } = place as ZooKeeperBehind;
    const { requests, paths } = this.#around;
    const before = requests.watch("children", paths.entry(predecessor), signal);
    if ((await watched([before], signal, [this.#own.lend(signal)])) === 0) this.#looking.hasGone(predecessor);
  }

  async claim(place: HeadPlace, signal: Ender): Promise<HeldPlace | Refused> {
    const { version, extra } = place as ZooKeeperHead;
    const { requests, paths, clock } = this.#around;
    const operations: Operation[] = [
      { op: "check", path: this.#entry.path, version: -1 },
      { op: "setData", path: paths.term, data: writeTerm(this.#entry.name, clock.wall(), extra), version },
    ];
    try {
      const [, stat] = await requests.write(operations, signal);
      const seat = this.#looking.held(stat as ZooKeeperStat, extra);
      this.#place = seat;
      return seat;
    } catch (error) {
      if (isZooKeeperError(error, "BADVERSION") || isZooKeeperError(error, "NONODE")) return { kind: "refused", wait: 0 };
      throw error;
    }
  }

  /**
   * Also watches `term`: nobody may write it while I hold the seat, so whatever happens to it is interference.
   */
  async unseated(signal: Ender): Promise<void> {
    const seat = this.#place;
    if (seat?.kind !== "held") return;
    const term = this.#term.lend(signal);
    const unfollow = this.#leaving.follow(signal);
    try {
      await watched([], signal, [this.#own.lend(signal), term], async () => (await term.armed).stat.mzxid === seat.fence);
    } finally {
      await unfollow();
    }
  }

  prepare(signal: Ender): Promise<void> {
    return this.#leaving.prepare(signal);
  }

  withdraw(how: "hand-over" | "free", signal: Ender): Promise<void> {
    this.#own.release();
    this.#term.release();
    const seat = how === "hand-over" && this.#place?.kind === "held" ? this.#place : null;
    return this.#leaving.leave(seat, signal);
  }

  get #mayBeHanded(): boolean {
    return this.#place?.kind === "behind" && this.#own.live;
  }

  /**
   * The quick look of who waited behind another: if `term` names my entry now, the seat was handed to me. No list
   * is needed, because the watch on my entry stands: had the entry gone, its event would have come before this answer on the same
   * connection. Null: whatever else has happened takes the whole look.
   */
  async #handedToMe(signal: Ender): Promise<ZooKeeperHeld | null> {
    const { paths } = this.#around;
    const read = await tolerate(this.#term.lend(signal).armed, "NONODE");
    if (read !== undefined && this.#own.live) {
      const term = termOf(read, paths.term);
      if (term.record?.entry === this.#entry.name && term.version > 0) return this.#looking.held(term, term.extra);
    }
    this.#term.release();
    return null;
  }
}
