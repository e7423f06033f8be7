import type { Card } from "../../src/store.js";

/*
 * What the store keeps of one election, and how it changes. Values never change in place: an old one is what a lagging
 * replica still shows.
 */

/** One candidate's entry. Entries stand in the order in which they were made. */
export interface Entry {
  readonly guid: string;
  readonly session: string;
  readonly card: Card;
}

/** The last term that was recorded. The seat is held while the entry that it names exists. */
export interface Term {
  readonly guid: string;
  readonly card: Card;
  readonly number: number;
  readonly fence: bigint;
  readonly since: Date;
}

export interface ElectionState {
  readonly entries: readonly Entry[];
  readonly term: Term | null;
  /** A sentence each: what somebody else put there. */
  readonly foreign: readonly string[];
}

export const EMPTY: ElectionState = { entries: [], term: null, foreign: [] };

/** When and by which clock a change is written down: `version` becomes the fence of a term that it begins. */
export interface Stamp {
  readonly version: bigint;
  readonly since: Date;
}

export function find(state: ElectionState, guid: string): Entry | undefined {
  return state.entries.find((entry) => entry.guid === guid);
}

/** The entry that holds the seat. */
export function holder(state: ElectionState): Entry | undefined {
  return state.term ? find(state, state.term.guid) : undefined;
}

export function join(state: ElectionState, entry: Entry): ElectionState {
  return { ...state, entries: [...state.entries, entry] };
}

export function leave(state: ElectionState, guid: string): ElectionState {
  return { ...state, entries: state.entries.filter((entry) => entry.guid !== guid) };
}

/** Takes an entry away; `instead`, if given, stands in its place. */
export function replace(state: ElectionState, guid: string, instead: Entry | undefined): ElectionState {
  if (!instead) return leave(state, guid);
  return { ...state, entries: state.entries.map((entry) => (entry.guid === guid ? instead : entry)) };
}

export function seat(state: ElectionState, entry: Entry, stamp: Stamp): ElectionState {
  const number = (state.term?.number ?? 0) + 1;
  return { ...state, term: { guid: entry.guid, card: entry.card, number, fence: stamp.version, since: stamp.since } };
}

/** Takes the holder's entry away and seats the first other one in the same step. */
export function handOver(state: ElectionState, guid: string, stamp: Stamp): ElectionState {
  const rest = leave(state, guid);
  const next = rest.entries[0];
  return next ? seat(rest, next, stamp) : rest;
}

export type Standing = { kind: "held"; term: Term } | { kind: "head" } | { kind: "behind"; guid: string } | { kind: "gone" };

/** Where the entry `guid` stands. */
export function standing(state: ElectionState, guid: string): Standing {
  const index = state.entries.findIndex((entry) => entry.guid === guid);
  if (index < 0) return { kind: "gone" };
  const seated = holder(state);
  if (state.term && seated?.guid === guid) return { kind: "held", term: state.term };
  const before = state.entries[index - 1] ?? seated;
  return before ? { kind: "behind", guid: before.guid } : { kind: "head" };
}
