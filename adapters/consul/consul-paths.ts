/** The keys of one election. */
export interface ElectionPaths {
  readonly election: string;
  /** The lock. */
  readonly leader: string;
  /** The current term; outlives its leader. */
  readonly term: string;
  /** Begins the keys of those who wait. */
  readonly queue: string;
}

export function electionPaths(prefix: string, election: string): ElectionPaths {
  const base = `${prefix}/${election}`;
  return { election, leader: `${base}/leader`, term: `${base}/term`, queue: `${base}/queue/` };
}

/** Locked by the session, so it vanishes with it: who waits behind one of its candidates watches it. */
export function sessionKey(prefix: string, session: string): string {
  return `${sessionKeys(prefix)}${session}`;
}

/** Begins the keys of all sessions. */
export function sessionKeys(prefix: string): string {
  return `${prefix}/_session/`;
}

/** Begins the keys of a session's mailbox: one letter an election, and the anchor. */
export function mailbox(prefix: string, session: string): string {
  return `${prefix}/_mail/${session}/`;
}

/** Keeps the mailbox from being empty (an empty prefix is woken by its neighbours). No election has this name. */
export function anchor(prefix: string, session: string): string {
  return `${mailbox(prefix, session)}_`;
}

/** The name of a place in a queue: which session's, and its how many-th. */
export function placeName(session: string, count: number): string {
  return `${session}.${count}`;
}

/** Reads the name of a place; null: it is none. */
export function parsePlace(name: string): { readonly session: string; readonly count: number } | null {
  const [, session, count] = /^([0-9a-f-]{36})\.(\d{1,15})$/.exec(name) ?? [];
  return session === undefined || count === undefined ? null : { session, count: Number(count) };
}
