import type { Ender } from "../../src/clock.js";
import type { BehindPlace, Card, Contender, HeadPlace, HeldPlace, Place, Refused } from "../../src/store.js";
import type { MemorySession } from "./memory-session.js";
import { type ElectionState, find, handOver, holder, join, leave, seat, standing, type Term } from "./memory-state.js";
import { entryKey, termKey } from "./memory-watches.js";

/** A head place remembers which term it saw: a claim is refused if another one has begun since. */
interface Head extends HeadPlace {
  readonly after: Term | null;
}
interface Behind extends BehindPlace {
  readonly before: string;
}

/** One candidacy on the memory store. */
export class MemoryContender implements Contender {
  readonly election: string;
  readonly card: Card;
  readonly guid: string;
  readonly #session: MemorySession;
  readonly #replaces: MemoryContender | null;
  /** `no`: nothing was sent; `doubtful`: the reply to a join has not come; `withdrawn`: nothing is left at the server. */
  #joined: "no" | "doubtful" | "yes" | "withdrawn" = "no";
  /** Fence of the seat that the last look or claim showed as mine. */
  #seat: bigint | null = null;

  constructor(session: MemorySession, candidacy: { election: string; card: Card; guid: string; replaces: MemoryContender | null }) {
    this.#session = session;
    this.election = candidacy.election;
    this.card = candidacy.card;
    this.guid = candidacy.guid;
    this.#replaces = candidacy.replaces;
  }

  async look(signal: Ender): Promise<Place> {
    const joins = this.#joined === "no" || this.#joined === "doubtful";
    if (joins && !signal.aborted && !this.#session.ended.aborted) this.#joined = "doubtful";
    const state = await this.#session.request("look", signal, () => (joins ? this.#join() : this.#read()), !joins);
    if (joins && this.#joined === "doubtful") this.#joined = "yes";
    const place = this.#place(state);
    this.#seat = place.kind === "held" ? place.fence : null;
    return place;
  }

  moved(place: Place, signal: Ender): Promise<void> {
    return this.#session.link.watch("moved", signal, () => {
      this.#session.attend();
      const state = this.#session.visible(this.election);
      if (!find(state, this.guid)) return null;
      if (place.kind === "behind") {
        const { before } = place as Behind;
        return find(state, before) ? [entryKey(before), entryKey(this.guid)] : null;
      }
      if (place.kind === "head" && state.term !== (place as Head).after) return null;
      return [termKey(this.election), entryKey(this.guid)];
    });
  }

  async claim(place: HeadPlace, signal: Ender): Promise<HeldPlace | Refused> {
    const { after } = place as Head;
    const result = await this.#session.request("claim", signal, (): ElectionState | Refused => {
      const { server, link } = this.#session;
      const wait = server.refusesFor(this.election);
      if (wait > 0) return { kind: "refused", wait };
      const before = server.state(this.election);
      const entry = find(before, this.guid);
      if (!entry || before.term?.fence !== after?.fence) return { kind: "refused", wait: 0 };
      server.change(this.election, new Date(link.clock.wall()), (state, stamp) => ({ next: seat(state, entry, stamp) }));
      link.saw(server.version);
      return server.state(this.election);
    });
    if ("kind" in result) return result;
    const held = this.#place(result);
    // Claimed in this very step: nothing can have come between.
    if (held.kind !== "held") return { kind: "refused", wait: 0 };
    this.#seat = held.fence;
    return held;
  }

  unseated(signal: Ender): Promise<void> {
    return this.#session.link.watch("unseated", signal, () => {
      this.#session.attend();
      const state = this.#session.visible(this.election);
      if (!find(state, this.guid)) return null;
      if (this.#seat === null) return [entryKey(this.guid)];
      return state.term?.fence === this.#seat ? [entryKey(this.guid), termKey(this.election)] : null;
    });
  }

  async prepare(signal: Ender): Promise<void> {
    await this.#session.request("prepare", signal, () => {});
  }

  async withdraw(how: "hand-over" | "free", signal: Ender): Promise<void> {
    if (signal.aborted) throw signal.reason;
    if (this.#joined === "no" || this.#joined === "withdrawn") {
      this.#joined = "withdrawn";
      return;
    }
    await this.#session.request("withdraw", signal, () => {
      const { server, link } = this.#session;
      server.change(this.election, new Date(link.clock.wall()), (state, stamp) => {
        const removed = find(state, this.guid);
        if (!removed) return { next: state };
        const hands = how === "hand-over" && holder(state) === removed;
        return { next: hands ? handOver(state, this.guid, stamp) : leave(state, this.guid), removed };
      });
      link.saw(server.version);
    });
    this.#joined = "withdrawn";
    this.#seat = null;
  }

  /** At the server: my entry is made, unless an earlier attempt did; and what is there then. */
  #join(): ElectionState {
    const { server, link, id } = this.#session;
    const now = new Date(link.clock.wall());
    const old = this.#replaces;
    if (old) server.remove(old.election, old.guid);
    server.change(this.election, now, (state) => {
      if (find(state, this.guid)) return { next: state };
      const added = { guid: this.guid, session: id, card: this.card };
      return { next: join(state, added), added };
    });
    link.saw(server.version);
    return server.state(this.election);
  }

  #read(): ElectionState {
    return this.#session.read(this.election);
  }

  #place(state: ElectionState): Place {
    const common = { seen: state.term?.fence ?? 0n, ignored: state.foreign };
    const where = standing(state, this.guid);
    switch (where.kind) {
      case "held":
        return { kind: "held", ...common, number: where.term.number, fence: where.term.fence, handle: where.term };
      case "head":
        return head({ kind: "head", ...common, after: state.term });
      case "behind":
        return behind({ kind: "behind", ...common, before: where.guid });
      case "gone":
        return { kind: "gone", ...common };
    }
  }
}

function head(place: Head): HeadPlace {
  return place;
}

function behind(place: Behind): BehindPlace {
  return place;
}
