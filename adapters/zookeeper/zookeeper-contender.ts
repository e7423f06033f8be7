import type { Card, Contender, HeadPlace, HeldPlace, Place, Refused } from "../../src/store.js";
import { OwnEntry } from "./zookeeper-entry.js";
import { isZooKeeperError } from "./zookeeper-error.js";
import { Leaving } from "./zookeeper-leaving.js";
import { Looking } from "./zookeeper-looking.js";
import type { ZooKeeperBehind, ZooKeeperHead, ZooKeeperHeld } from "./zookeeper-places.js";
import { writeCard, writeTerm } from "./zookeeper-record.js";
import type { Surroundings } from "./zookeeper-surroundings.js";
import { watched } from "./zookeeper-watch.js";
import type { Operation, ZooKeeperStat } from "./zookeeper-wire.js";

/** One candidacy. It holds what it knows of its own entry and seat; the protocol is in the files for looking and leaving. */
export class ZooKeeperContender implements Contender {
  readonly #around: Surroundings;
  readonly #card: Readonly<Record<string, unknown>>;
  readonly #entry: OwnEntry;
  readonly #looking: Looking;
  readonly #leaving: Leaving;
  #seat: ZooKeeperHeld | null = null;

  constructor(around: Surroundings, card: Card, replaces: ZooKeeperContender | null) {
    const data = writeCard(card);
    this.#around = around;
    this.#card = JSON.parse(data.toString()) as Record<string, unknown>;
    this.#entry = new OwnEntry(around.requests, around.paths, data);
    // An entry of this very session is none that an earlier session left behind.
    const old = replaces !== null && replaces.#around.requests !== around.requests ? replaces.#entry : null;
    this.#looking = new Looking(around, this.#entry, old);
    this.#leaving = new Leaving(around, this.#entry);
  }

  async look(signal: AbortSignal): Promise<Place> {
    const place = await this.#looking.look(signal);
    this.#seat = place.kind === "held" ? place : null;
    return place;
  }

  /**
   * For a place behind: waits for the entry before mine to go, and for mine. A **children** watch, because entries have
   * no children: it fires when the entry goes, writing to the entry does not use it up, and it leaves nothing behind if
   * the entry has gone already. For any other place there is nothing to wait for: a claim is refused because `term` or my
   * entry has changed since, so the next look shows something else.
   */
  async moved(place: Place, signal: AbortSignal): Promise<void> {
    if (place.kind !== "behind") return;
    const { predecessor } = place as ZooKeeperBehind;
    const { requests, paths } = this.#around;
    const before = requests.watch("children", paths.entry(predecessor), signal);
    const own = requests.watch("children", this.#entry.path, signal);
    if ((await watched([before, own], signal)) === 0) this.#looking.hasGone(predecessor);
  }

  async claim(place: HeadPlace, signal: AbortSignal): Promise<HeldPlace | Refused> {
    const { version, extra } = place as ZooKeeperHead;
    const { requests, paths, clock } = this.#around;
    const operations: Operation[] = [
      { op: "check", path: this.#entry.path, version: -1 },
      { op: "setData", path: paths.term, data: writeTerm(this.#card, this.#entry.name, clock.wall(), extra), version },
    ];
    try {
      const [, stat] = await requests.write(operations, signal);
      this.#seat = this.#looking.held(stat as ZooKeeperStat, extra);
      return this.#seat;
    } catch (error) {
      if (isZooKeeperError(error, "BADVERSION") || isZooKeeperError(error, "NONODE")) return { kind: "refused", wait: 0 };
      throw error;
    }
  }

  /** Also watches `term`: nobody may write it while I hold the seat, so whatever happens to it is interference. */
  async unseated(signal: AbortSignal): Promise<void> {
    const seat = this.#seat;
    if (seat === null) return;
    const { requests, paths } = this.#around;
    const own = requests.watch("children", this.#entry.path, signal);
    const term = requests.watch("data", paths.term, signal);
    const untouched = requests.exists(paths.term, signal).then((stat) => stat?.mzxid === seat.fence);
    await watched([own, term], signal, untouched);
  }

  prepare(signal: AbortSignal): Promise<void> {
    return this.#leaving.prepare(signal);
  }

  withdraw(how: "hand-over" | "free", signal: AbortSignal): Promise<void> {
    return this.#leaving.leave(how === "hand-over" ? this.#seat : null, signal);
  }
}
