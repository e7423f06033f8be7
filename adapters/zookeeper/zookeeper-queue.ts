/** One candidate's entry, by its name. */
export interface Entry {
  readonly name: string;
  /** Chosen by the candidacy: how it finds its entry after a lost reply. */
  readonly guid: string;
  /** Given by the server: a signed 32-bit number. */
  readonly sequence: number;
}

/** What lies below `candidates`. */
export interface Listing {
  /** In no particular order. */
  readonly entries: readonly Entry[];
  /** Names that are not of our form. They never take part: an unreadable name must not be the lowest. */
  readonly foreign: readonly string[];
}

/*
 * The server writes the number as Java's %010d: a negative one has its sign within the ten characters, so that it is nine
 * digits long above -10^9 and ten below.
 */
const NAME = /^([0-9a-f]{32})-(\d{10}|-\d{9,10})$/;
const LIMIT = 2 ** 31;
/** So close to the limit another candidate may already be beyond it (the creates of one moment are numbered together). */
const NEAR = 2 ** 20;

/** The entry of that name, or null if the name is not of our form. */
export function parseEntry(name: string): Entry | null {
  const [, guid, digits] = NAME.exec(name) ?? [];
  const sequence = Number(digits);
  if (guid === undefined || sequence >= LIMIT || sequence < -LIMIT) return null;
  return { name, guid, sequence };
}

/** Sorts the names of a list into ours and others'. */
export function readListing(children: readonly string[]): Listing {
  const entries: Entry[] = [];
  const foreign: string[] = [];
  for (const name of children) {
    const entry = parseEntry(name);
    if (entry === null) foreign.push(name);
    else entries.push(entry);
  }
  return { entries, foreign };
}

/**
 * Whether the sequences of this list may not tell the order of creation: the server's counter stops at 2^31 - 1 or goes on
 * at -2^31, depending on what is in flight. The whole list must then be ordered by czxid, never a mixture: that makes cycles.
 */
export function needsCreationOrder(entries: readonly Entry[]): boolean {
  const seen = new Set<number>();
  for (const { sequence } of entries) {
    if (sequence < 0 || sequence >= LIMIT - NEAR || seen.has(sequence)) return true;
    seen.add(sequence);
  }
  return false;
}

/** In order, first comes first. */
export function bySequence(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => a.sequence - b.sequence);
}

/** In order of creation; an entry without a czxid has gone meanwhile and is left out. */
export function byCreation(entries: readonly Entry[], czxids: ReadonlyMap<string, bigint>): Entry[] {
  const created = (entry: Entry) => czxids.get(entry.name) ?? 0n;
  return entries.filter((entry) => czxids.has(entry.name)).sort((a, b) => (created(a) < created(b) ? -1 : 1));
}

/** Where an entry stands. */
export type Standing = { readonly kind: "held" | "head" | "gone" } | { readonly kind: "behind"; readonly predecessor: string };

/**
 * Where `mine` stands in `order`, when the term that was read *before* the list names the entry `named`. Not listed comes
 * first: a term that names an entry which is not there is nobody's.
 */
export function stand(mine: string, named: string | null, order: readonly Entry[]): Standing {
  const at = order.findIndex(({ name }) => name === mine);
  if (at < 0) return { kind: "gone" };
  if (named === mine) return { kind: "held" };
  const before = order[at - 1];
  if (before !== undefined) return { kind: "behind", predecessor: before.name };
  // In creation order the holder is never behind a candidate; should it be, the seat is not free all the same.
  if (named !== null && order.some(({ name }) => name === named)) return { kind: "behind", predecessor: named };
  return { kind: "head" };
}
