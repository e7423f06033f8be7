import type { Ender } from "../../src/clock.js";
import type { Card, Contender, HeadPlace, HeldPlace, Place, Refused } from "../../src/store.js";
import type { Entry, Operation } from "./client/consul-wire.js";
import { Bell } from "./consul-bell.js";
import { Claiming } from "./consul-claiming.js";
import { Leaving } from "./consul-leaving.js";
import { tell } from "./consul-letters.js";
import { NEVER, waiting } from "./consul-lifetime.js";
import type { Delivered } from "./consul-mailbox.js";
import { OwnPlace } from "./consul-place.js";
import type { Surroundings } from "./consul-surroundings.js";
import type { Swept } from "./consul-sweep.js";
import {
  type ConsulHead,
  type ConsulHeld,
  held,
  holds,
  type Predecessor,
  placeOf,
  readView,
  type View,
  viewOperations,
} from "./consul-view.js";

/** One candidacy. It holds what it knows of its place and seat; joining and leaving have files of their own. */
export class ConsulContender implements Contender, Swept {
  readonly #around: Surroundings;
  readonly #own: OwnPlace;
  readonly #leaving: Leaving;
  readonly #bell = new Bell();
  readonly #claiming: Claiming;
  /** My candidacy on an earlier session, until what it left has been taken away. */
  #replaces: Leaving | null;
  #forget: (() => void) | null = null;
  #place: Place | null = null;
  #before: Predecessor | null = null;
  /** The process whose key had gone, though its place was still there when I looked. */
  #goneOf: string | null = null;
  /** ModifyIndex of the lock when I last looked. */
  #lockIndex = 0;
  /** The highest index that I have seen of this election: an older letter grants nothing. */
  #seen = 0;
  #grant: Delivered | null = null;

  constructor(around: Surroundings, card: Card, replaces: ConsulContender | null) {
    this.#around = around;
    this.#own = new OwnPlace(around, card);
    this.#leaving = new Leaving(around, this.#own);
    this.#claiming = new Claiming(around, this.#own, card);
    // A place of this very session is none that an earlier session left behind.
    const old = replaces !== null && replaces.#around.session !== around.session ? replaces : null;
    this.#replaces = old && new Leaving({ ...around, paths: old.#around.paths }, old.#own);
  }

  async look(signal: Ender): Promise<Place> {
    this.#bell.clear();
    this.#forget ??= this.#listen();
    const grant = this.#grant;
    this.#grant = null;
    // What was seen since it came was consistent, and is newer.
    if (grant && grant.index > this.#seen) return this.#seated(grant);
    const view = await this.#view(signal);
    const { place, before } = placeOf(this.#around.paths, view, this.#own);
    this.#saw(view);
    this.#place = place;
    this.#before = before;
    if (place.kind === "held") this.#around.seated.set(this.#around.paths.election, this.#own.name);
    if (place.kind === "held" || place.kind === "head") this.#leaving.knows(view);
    return place;
  }

  /** For a place behind: a letter wakes it, or the end of the process before it, or the sweep. */
  async moved(place: Place, signal: Ender): Promise<void> {
    const before = this.#before;
    if (place.kind !== "behind" || this.#bell.rung || before === null) return;
    await waiting<void>(this.#around.lifetime, signal, (resolve) => {
      const stop = this.#bell.onRing(resolve);
      const ignore = this.#watch(before, () => {
        this.#goneOf = before.session;
        this.#claiming.delay.freed();
        resolve();
      });
      return () => {
        stop();
        ignore();
      };
    });
  }

  async claim(place: HeadPlace, signal: Ender): Promise<HeldPlace | Refused> {
    const claimed = await this.#claiming.claim(place as ConsulHead, signal);
    if (claimed.kind === "held") this.#took(claimed);
    return claimed;
  }

  async unseated(signal: Ender): Promise<void> {
    if (this.#place?.kind !== "held" || this.#bell.rung) return;
    const { session } = this.#own;
    const index = this.#lockIndex;
    await waiting<void>(this.#around.lifetime, signal, (resolve) => {
      const stop = this.#bell.onRing(resolve);
      const still = (lock: Entry | null) => lock?.session === session && lock.modifyIndex === index;
      const ignore = this.#around.locks.add(this.#around.paths.leader, index, { still, changed: resolve });
      return () => {
        stop();
        ignore();
      };
    });
  }

  prepare(signal: Ender): Promise<void> {
    return this.#leaving.prepare(signal);
  }

  async withdraw(how: "hand-over" | "free", signal: Ender): Promise<void> {
    this.#forget?.();
    this.#forget = null;
    await this.#replaces?.leave(null, "free", signal);
    this.#replaces = null;
    await this.#leaving.leave(this.#place?.kind === "held" ? (this.#place as ConsulHeld) : null, how, signal);
  }

  get paths() {
    return this.#around.paths;
  }

  get waits(): boolean {
    return this.#place?.kind === "behind";
  }

  /** What must be so while nothing has happened to my seat or place. */
  checks(): Operation[] {
    const { paths } = this.#around;
    const { key, session } = this.#own;
    if (this.#place?.kind === "held") {
      return [
        { verb: "check-session", key: paths.leader, session },
        { verb: "check-index", key: paths.term, index: Number((this.#place as ConsulHeld).fence) },
      ];
    }
    return this.#place?.kind === "behind" ? [{ verb: "check-session", key, session }] : [];
  }

  compare(view: View): void {
    if (!this.waits) return;
    const { place, before } = placeOf(this.#around.paths, view, this.#own);
    if (place.kind !== "behind" || before?.key !== this.#before?.key || before?.session !== this.#before?.session) this.disturbed();
  }

  disturbed(): void {
    this.#bell.ring();
  }

  #listen(): () => void {
    const { mailbox, sweep, paths } = this.#around;
    const unsubscribe = mailbox.subscribe(paths.election, (letter) => this.#onLetter(letter));
    const stop = sweep.add(this);
    return () => {
      unsubscribe();
      stop();
    };
  }

  /** One that is older than what I have seen tells nothing: what I saw was consistent. Seen by another candidate does not count (REPORT C7). */
  #onLetter(letter: Delivered): void {
    if (letter.index <= this.#seen) return;
    if (letter.entry === this.#own.name && this.#own.sent) this.#grant = letter;
    this.#bell.ring();
  }

  /**
   * The seat was handed to me: the letter was written by the transaction that did it, so its index is the fence. The term begins at once.
   * An operator may have taken the seat away between the two: a look goes out in the same turn, and if it shows anything else, the
   * next wait ends at once (test: "a letter whose seat has been taken away meanwhile …").
   */
  #seated(grant: Delivered): ConsulHeld {
    const { requests, paths } = this.#around;
    this.#own.wasSeated();
    this.#claiming.delay.over();
    const seat = held(paths, this.#own.session, grant.index, grant.number);
    this.#took(seat);
    requests.read(viewOperations(paths), NEVER).then(
      (results) => {
        const view = readView(paths, results);
        if (!holds(view, this.#own) || view.fence !== grant.index) this.#bell.ring();
        else if (this.#place === seat) {
          this.#saw(view);
          this.#place = { ...seat, extra: view.term?.extra ?? {}, ignored: view.ignored } as ConsulHeld;
          this.#leaving.knows(view);
        }
      },
      () => this.#bell.ring(),
    );
    return seat;
  }

  #took(seat: ConsulHeld): void {
    this.#around.seated.set(this.#around.paths.election, this.#own.name);
    this.#seen = Number(seat.fence);
    this.#lockIndex = Number(seat.fence);
    this.#place = seat;
  }

  #saw(view: View): void {
    this.#seen = Math.max(this.#seen, view.highest);
    this.#lockIndex = view.lock?.modifyIndex ?? 0;
  }

  async #view(signal: Ender): Promise<View> {
    const { requests, paths } = this.#around;
    await this.#takeOldAway(signal);
    if (this.#own.state === "none") return this.#own.join(signal);
    const doubtful = this.#own.state === "doubtful";
    if (doubtful) await this.#own.closeDoubt(signal);
    await this.#claiming.closeDoubt(signal);
    const view = readView(paths, await requests.read(viewOperations(paths), signal));
    // It may have come and gone, and somebody behind it waits for this session (REPORT C3; test: "to a join whose place was taken away …").
    if (doubtful && !this.#own.isIn(view)) await tell(this.#around, firstOf(view), signal);
    if (doubtful) this.#own.settle(view);
    // Read anew: settling may have found that it never joined.
    return (this.#own.state as string) === "none" ? this.#own.join(signal) : view;
  }

  /** Nothing of it is at work any more, so it need not wait for the end of its session. */
  async #takeOldAway(signal: Ender): Promise<void> {
    const old = this.#replaces;
    if (old === null) return;
    await old.leave(null, "free", signal);
    this.#replaces = null;
  }

  #watch(before: Predecessor, gone: () => void): () => void {
    const { neighbours, locks, session } = this.#around;
    const { key, foreign } = before;
    // Whoever removes a session's own key must not make those behind it spin.
    if (foreign || this.#goneOf === before.session) {
      return locks.add(key, 0, { still: (entry) => entry?.session === before.session, changed: gone });
    }
    return before.session === session ? () => {} : neighbours.add(before.session, before.anchor, gone);
  }
}

function firstOf({ queue }: View): string[] {
  return queue.slice(0, 1).map(({ session }) => session);
}
