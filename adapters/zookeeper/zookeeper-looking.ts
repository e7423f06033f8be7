import type { Ender } from "../../src/clock.js";
import type { GonePlace } from "../../src/store.js";
import { isZooKeeperError } from "./client/zookeeper-error.js";
import type { ZooKeeperStat } from "./client/zookeeper-wire.js";
import type { OwnEntry } from "./zookeeper-entry.js";
import { orMissing, readQueue } from "./zookeeper-list.js";
import { ignoredSentences, unsteady, type ZooKeeperBehind, type ZooKeeperHead, type ZooKeeperHeld } from "./zookeeper-places.js";
import { type Entry, stand } from "./zookeeper-queue.js";
import { tolerate } from "./zookeeper-requests.js";
import type { Surroundings } from "./zookeeper-surroundings.js";
import { leaveVersionZero, makeElection, makeTerm, type Term, termOf } from "./zookeeper-term.js";

type Looked = ZooKeeperHeld | ZooKeeperHead | ZooKeeperBehind | GonePlace;

/** A first look of a new election takes three (parents, term, the look itself); more than these is interference. */
const ROUNDS = 6;

/** Joining and looking. */
export class Looking {
  readonly #around: Surroundings;
  readonly #entry: OwnEntry;
  /** My entry of an earlier session, until it has been deleted. */
  #old: OwnEntry | null;
  /** An entry that is known to have gone, though a lagging server may still list it. */
  #gone: string | null = null;
  #lagging = false;

  constructor(around: Surroundings, entry: OwnEntry, old: OwnEntry | null) {
    this.#around = around;
    this.#entry = entry;
    this.#old = old;
  }

  /** The server said that the entry `name` is not there. */
  hasGone(name: string): void {
    this.#gone = name;
  }

  async look(signal: Ender): Promise<Looked> {
    for (let round = 0; round < ROUNDS; round++) {
      const place = await this.#lookOnce(signal);
      if (place !== null) return place;
    }
    throw unsteady(this.#around.paths.election);
  }

  /** The held place of a term whose `term` znode has this stat. */
  held(
    stat: Pick<ZooKeeperStat, "version" | "mzxid">,
    extra: Readonly<Record<string, unknown>>,
    ignored: readonly string[] = [],
  ): ZooKeeperHeld {
    const { chroot, paths } = this.#around;
    const handle = {
      chroot,
      termPath: paths.term.slice(chroot.length),
      entryPath: this.#entry.path.slice(chroot.length),
      version: stat.version,
    };
    return { kind: "held", number: stat.version, fence: stat.mzxid, seen: stat.mzxid, ignored, handle, extra };
  }

  /** All of one turn, so one flight. Null: something had to be made first, look again. */
  async #lookOnce(signal: Ender): Promise<Looked | null> {
    const { requests, paths } = this.#around;
    const state = this.#entry.state;
    // An acquiring look needs no sync: the list is read behind my own create, so it shows every live entry before mine; a
    // lagging server can only show some that have gone, or an older term, at whose version a claim fails.
    const removed = this.#removeOld([], signal);
    const begin =
      state === "none"
        ? this.#entry.create(signal)
        : state === "doubtful" || this.#lagging
          ? requests.sync(paths.candidates, signal)
          : null;
    // Term first, then the list: an entry that is named and not listed has gone, and what changes later changes the version.
    const begun = Promise.allSettled([begin, removed]);
    const written = requests.written();
    if (written !== null) await written;
    const reads = Promise.allSettled([requests.getData(paths.term, signal), requests.getChildren(paths.candidates, signal)]);
    const [[began], [term, list]] = await Promise.all([begun, reads]);
    if (began.status === "rejected") {
      if (state !== "none" || !isZooKeeperError(began.reason, "NONODE")) throw began.reason;
      await makeElection(requests, paths, signal);
      return null;
    }
    const children = orMissing(list)?.children ?? [];
    if (state === "doubtful") this.#entry.settle(children);
    if (this.#entry.state === "none" || (await this.#removeOld(children, signal))) return null;
    const { foreign, order } = await readQueue(requests, paths, children, signal);
    this.#lagging = !this.#lagging && order.some(({ name }) => name === this.#gone);
    if (this.#lagging) return null;
    const read = orMissing(term);
    // My create was refused together with others', and repeated behind the list.
    if (state === "none" && !children.includes(this.#entry.name)) return null;
    const isThere = order.some(({ name }) => name === this.#entry.name) && (await this.#entry.isOwned(signal));
    if (read === null && isThere) {
      await makeTerm(requests, paths.term, signal);
      return null;
    }
    const known = read === null ? NO_TERM : termOf(read, paths.term);
    const ignored = ignoredSentences(foreign, paths.candidates, known.fault, paths.term);
    if (isThere && read !== null && known.version === 0) {
      await leaveVersionZero(requests, paths.term, read.data, signal);
      return null;
    }
    return this.#place(known, isThere ? order : [], ignored);
  }

  #place(term: Term, order: readonly Entry[], ignored: readonly string[]): Looked {
    // Data that cannot be read names nobody. That is safe: the holder's entry is always the lowest, because only the lowest
    // claims and a seat is handed to the next one only, so nobody but the holder itself can find that it is head.
    const seen = term.record === null ? 0n : term.mzxid;
    const standing = stand(this.#entry.name, term.record?.entry ?? null, order);
    switch (standing.kind) {
      case "held":
        return this.held(term, term.extra, ignored);
      case "head":
        return { kind: "head", seen, ignored, version: term.version, extra: term.extra };
      case "behind":
        return {
          kind: "behind",
          seen,
          ignored,
          predecessor: standing.predecessor,
        };
      case "gone":
        return { kind: "gone", seen, ignored };
    }
  }

  /**
   * Removes my entry of an earlier session, else I would wait behind myself until that session expires. One whose create
   * was never answered is known by its GUID only: it takes a list. Only quicker than waiting, so a failure does not matter.
   */
  async #removeOld(children: readonly string[], signal: Ender): Promise<boolean> {
    const old = this.#old;
    if (old === null || old.state === "none") return false;
    const name = old.state === "made" ? old.name : children.find((child) => old.matches(child));
    if (name === undefined) return false;
    const { requests, paths } = this.#around;
    const removed = tolerate(requests.write([{ op: "delete", path: paths.entry(name), version: -1 }], signal), "NONODE");
    return removed.then(
      () => {
        this.#old = null;
        return true;
      },
      () => false,
    );
  }
}

const NO_TERM: Term = { record: null, extra: {}, fault: null, version: 0, mzxid: 0n };
