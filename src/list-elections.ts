import { setMaxListeners } from "node:events";
import { StoppedError, StoreError } from "./errors.js";
import { type InspectOptions, onSession } from "./on-session.js";
import { isElection } from "./options.js";
import type { SharedSession } from "./shared-session.js";
import type { Leader, Store } from "./store.js";

export interface ListOptions extends InspectOptions {
  /** Told how many of the elections have been read. */
  onProgress?: (read: number, of: number) => void;
}

/** One of the elections that a store keeps. */
export interface ListedElection {
  readonly election: string;
  readonly leader: Leader | null;
  /** How many stand and do not lead. */
  readonly waiting: number;
  /** Why this one could not be read; null if it could. */
  readonly problem: StoreError | null;
}

/** What a store keeps. */
export interface ElectionList {
  /** False: no election was ever held here. */
  readonly exists: boolean;
  /** By name. */
  readonly elections: readonly ListedElection[];
  /** Names of what lies there and is no election. */
  readonly foreign: readonly string[];
}

/** So many elections are read at once. */
const AT_ONCE = 64;

/**
 * Lists the elections of a store, with who leads and how many wait. Reads only. The list is not one moment: each election
 * is read after the other. One try, as `inspect`: an election that cannot be read for a reason of its own is told as its
 * `problem`, any other failure rejects.
 */
export async function listElections(store: Store, options: ListOptions = {}): Promise<ElectionList> {
  return onSession(store, options, async (session, given) => {
    // One signal for all readers, so that one failure ends them all: the session may be shared and live on.
    const end = new AbortController();
    const { signal } = end;
    setMaxListeners(0, signal);
    const onAbort = () => end.abort(given.reason);
    if (given.aborted) onAbort();
    given.addEventListener("abort", onAbort, { once: true });
    const names = await session.attempt("elections", signal, (attempt) => session.session.elections(attempt));
    const elections: ListedElection[] = [];
    const foreign: string[] = [];
    const left = (names ?? []).values();
    let read = 0;
    const reader = async () => {
      for (const name of left) {
        const listed = isElection(name) ? await survey(session, name, signal) : null;
        if (listed) elections.push(listed);
        else foreign.push(name);
        options.onProgress?.(++read, names?.length ?? 0);
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, reader));
    } finally {
      end.abort(new StoppedError("the list is complete, or has failed"));
      given.removeEventListener("abort", onAbort);
    }
    return { exists: names !== null, elections: elections.sort(byName), foreign: foreign.sort() };
  });
}

/** Null: it is no election. */
async function survey(session: SharedSession, election: string, signal: AbortSignal): Promise<ListedElection | null> {
  try {
    const found = await session.attempt("survey", signal, (attempt) => session.session.survey(election, attempt));
    return found && { election, ...found, problem: null };
  } catch (error) {
    // What trying again cures, or what concerns them all, is not this election's own.
    if (!(error instanceof StoreError) || error.transient || error.code === "session-ended") throw error;
    return { election, leader: null, waiting: 0, problem: error };
  }
}

function byName(a: ListedElection, b: ListedElection): number {
  return a.election < b.election ? -1 : 1;
}
