import type { Clock, Ender, Instant } from "./clock.js";

/*
 * The contract between the core and a store. Types only. Every call is one attempt and takes an Ender last (an AbortSignal is one); an
 * aborted call rejects with the signal's reason, any other failure is a StoreError. A reason for which isTimeout() holds
 * says that the link is suspect. Where a failed call may have taken effect, repeating it is safe: look() finds out.
 */

/** A coordination service that elections can be held on. */
export interface Store {
  /** For people: what and where, without secrets. */
  readonly name: string;
  /** Opens a new session. */
  open(request: OpenRequest, signal: Ender): Promise<Session>;
}

export interface OpenRequest {
  /** What the session measures and waits by. */
  readonly clock: Clock;
}

/** Liveness with the store: when it ends, the store removes every entry that was made on it. */
export interface Session {
  /** As the store calls it. */
  readonly id: string;
  /** Milliseconds, as granted (not as asked). */
  readonly ttl: number;
  /** How much older than a proof the instant that it vouches for may be, in ms, for the store's own reasons. */
  readonly gap: number;
  /** Aborts when the store has ended this session, or when it can never be served again; the reason is a StoreError. */
  readonly ended: AbortSignal;
  /** Shows that the store cannot end this session by timeout before `vouchedAt` + ttl. */
  prove(signal: Ender): Promise<Proof>;
  /** Shows life as cheaply as the store allows. Where that vouches for something, it gives a proof; null: for nothing. */
  touch(signal: Ender): Promise<Proof | null>;
  /** A candidacy of this session. Sends nothing yet. `replaces`: my candidacy on an earlier session, whose entry may go. */
  contend(election: string, card: Card, replaces: Contender | null): Contender;
  /** Who holds the seat. */
  leader(election: string, signal: Ender): Promise<Leader | null>;
  /** Everybody who stands, in order; the holder of the seat first. */
  queue(election: string, signal: Ender): Promise<Standing[]>;
  /** Settles once `leader` may answer something else than `seen` (early is allowed). */
  changed(election: string, seen: Leader | null, signal: Ender): Promise<void>;
  /** Names of all that lies where elections are kept, in no order; null: there is no such place yet. Creates nothing. */
  elections(signal: Ender): Promise<string[] | null>;
  /** One of those names at a glance; null: no election (any more). Not older than the last answer of `elections`. */
  survey(election: string, signal: Ender): Promise<Survey | null>;
  /**
   * As an operator: removes the entry of `standing`, provided that it leads, or does not, as `standing` says. Null: that is
   * not so (any more), and nothing was done. `stead`: in the same step an entry of this session takes its place in the
   * queue, so that nobody can claim the seat before that one has gone.
   */
  evict(election: string, standing: Seen, stead: Card | null, signal: Ender): Promise<Evicted | null>;
  /** Ends the session at the store. The object is dead afterwards, whether this succeeds or not. */
  close(signal: Ender): Promise<void>;
  /** Sends nothing more, from this very call on: only the store's own timeout ends the session now. */
  abandon(): void;
}

export interface Proof {
  /** Never later than the moment before the proof's request was sent. */
  readonly vouchedAt: Instant;
}

/** What a candidate shows of itself. */
export interface Card {
  readonly id: string;
  /** JSON. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Who holds a seat, as an observer sees it. */
export interface Leader extends Card {
  readonly number: number;
  readonly fence: bigint;
  /** When the term began, by the clock of whoever wrote it down. */
  readonly since: Date;
}

/** One of those who stand. */
export interface Standing extends Card {
  /** As the store names it: what an operator removes to evict. */
  readonly entry: string;
  readonly leading: boolean;
  /** The session that it goes with. Null: none, so it stays, and blocks those behind it, until an operator removes it. */
  readonly session: string | null;
}

/** An entry, and whether it led, as an operator saw it. */
export type Seen = Pick<Standing, "entry" | "leading">;

export interface Evicted {
  /** The entry that stands in the place of the evicted one. */
  readonly stead: string | null;
}

/** An election, seen from afar. */
export interface Survey {
  readonly leader: Leader | null;
  /** How many stand and do not lead. */
  readonly waiting: number;
}

/** One candidacy, bound to its session for life. */
export interface Contender {
  /** Where I stand. The first look joins and looks in one flight; one after a doubtful join finds out what came of it. */
  look(signal: Ender): Promise<Place>;
  /** Settles once `place` (behind, or head) may have changed or my entry may have gone: early is allowed. */
  moved(place: Place, signal: Ender): Promise<void>;
  /** Takes the free seat that `place` showed. */
  claim(place: HeadPlace, signal: Ender): Promise<HeldPlace | Refused>;
  /** Settles once my entry or my seat may have gone. Meanwhile it may keep known who is next. */
  unseated(signal: Ender): Promise<void>;
  /** Learns who is next. Repeatable, changes nothing. */
  prepare(signal: Ender): Promise<void>;
  /**
   * Gives up seat and place, and pays what this candidacy owes to others. `"hand-over"` seats the next in line in the
   * same step; `"free"` leaves the seat empty. The core calls it for every contender, whatever became of it, and repeats
   * it until it succeeds or the session has ended.
   */
  withdraw(how: "hand-over" | "free", signal: Ender): Promise<void>;
}

interface Look {
  /** The fence that the store last recorded for this election, whoever held it; 0n if none. */
  readonly seen: bigint;
  /** What lies there, is not tenure's own and was ignored; a sentence each. */
  readonly ignored: readonly string[];
}
/** The seat is mine. */
export interface HeldPlace extends Look {
  readonly kind: "held";
  /** Counts the terms of this election; rises by at least one with each. */
  readonly number: number;
  /** Rises with every term, for ever, also across deletion and re-creation of everything. */
  readonly fence: bigint;
  /** For the store's own subpath: fences the store's own transactions. */
  readonly handle: unknown;
}
/** The seat is free and mine to claim. */
export interface HeadPlace extends Look {
  readonly kind: "head";
}
/** Exactly one other is just before me. */
export interface BehindPlace extends Look {
  readonly kind: "behind";
}
/** My entry is not there (any more). */
export interface GonePlace extends Look {
  readonly kind: "gone";
}
/** What a look shows. */
export type Place = HeldPlace | HeadPlace | BehindPlace | GonePlace;

export interface Refused {
  readonly kind: "refused";
  /** Milliseconds until it makes sense to look again; 0 = now. */
  readonly wait: number;
}
