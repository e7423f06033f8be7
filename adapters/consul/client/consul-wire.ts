import type { Clock, Ender } from "../../../src/clock.js";

/*
 * What the adapter needs of a Consul client: six endpoints. Every call is one attempt and takes an Ender last; an aborted
 * call closes its socket and rejects with the signal's reason, a refused transaction with TransactionRefused, any other
 * failure with a StoreError.
 */

/** A key as Consul keeps it. */
export interface Entry {
  readonly key: string;
  /** Decoded; "" if there is none. */
  readonly value: string;
  /** Whose lock it is; null: nobody's. */
  readonly session: string | null;
  readonly createIndex: number;
  readonly modifyIndex: number;
}

/** One operation of a transaction. Values are text, in UTF-8. */
export type Operation =
  /** Locks `key` for `session` (any session's: it need not be ours). */
  | { readonly verb: "lock"; readonly key: string; readonly value: string; readonly session: string }
  /** Frees `key`, which `session` must hold; overwrites its value. */
  | { readonly verb: "unlock"; readonly key: string; readonly value: string; readonly session: string }
  /** Writes `key` if its ModifyIndex is `index`; 0: if it does not exist. */
  | { readonly verb: "cas"; readonly key: string; readonly value: string; readonly index: number }
  | { readonly verb: "delete"; readonly key: string }
  /** Deletes `key` if its ModifyIndex is `index`. */
  | { readonly verb: "delete-cas"; readonly key: string; readonly index: number }
  /** Fails unless the ModifyIndex of `key` is `index`. */
  | { readonly verb: "check-index"; readonly key: string; readonly index: number }
  /** Fails unless `session` holds `key`. */
  | { readonly verb: "check-session"; readonly key: string; readonly session: string }
  /** Gives an entry, or null. */
  | { readonly verb: "get-or-empty"; readonly key: string }
  /** Gives all entries that begin with `key`. */
  | { readonly verb: "get-tree"; readonly key: string };

/**
 * What an operation gives, in the order of the operations: `lock`, `unlock` and `cas` the entry as it is now (its value is
 * not sent back: ""), `get-or-empty` an entry or null, `get-tree` entries, all others null.
 */
export type Result = Entry | readonly Entry[] | null;

/**
 * Why an operation was refused:
 * - `held`: the lock is another session's
 * - `delay`: lock-delay (refused before raft)
 * - `session`: there is no such session
 * - `check`: a check, a cas or a delete-cas failed, or what is to be unlocked is not held
 * - `auth`: the token may not do that
 * - `other`: anything else, `what` says it
 */
export type RefusalKind = "held" | "delay" | "session" | "check" | "auth" | "other";

export interface Refusal {
  /** Which of the operations, from 0. */
  readonly operation: number;
  readonly kind: RefusalKind;
  /** As the server says it. */
  readonly what: string;
}

/** Nothing of the transaction was done. Consul goes on after a failed operation: `refusals` has all of them. */
export class TransactionRefused extends Error {
  readonly refusals: readonly Refusal[];

  constructor(refusals: readonly Refusal[]) {
    super(refusals.map(({ operation, what }) => `operation ${operation}: ${what}`).join("; "));
    this.name = "TransactionRefused";
    this.refusals = refusals;
  }
}

/** So many operations a transaction takes (agent/txn_endpoint.go: maxTxnOps; 64 before Consul 1.14). */
export const MOST_OPERATIONS = 128;

export interface NewSession {
  /** ms */
  readonly ttl: number;
  /** ms; 0: none */
  readonly lockDelay: number;
  /** For people. */
  readonly name: string;
  /** Null: the agent's own. */
  readonly node: string | null;
  /** Ids of checks; the session ends when one becomes critical. */
  readonly checks: readonly string[];
}

export interface BlockingQuery {
  readonly key: string;
  /** All that begins with `key`, not only `key` itself. */
  readonly recurse: boolean;
  /** Answers once the index is above this; 0: at once. */
  readonly index: number;
  /** How long the server may wait, ms (it adds up to a sixteenth). */
  readonly wait: number;
}

export interface Found {
  /** To wait on with the next query. */
  readonly index: number;
  readonly entries: readonly Entry[];
}

export interface ConsulClient {
  /** Called whenever a server answers anything with 500: blocking queries that are open may be blind. */
  onServerError: (() => void) | null;
  /** With behavior `delete`. Gives the id. */
  createSession(session: NewSession, signal: Ender): Promise<string>;
  /** False: there is no such session. Has connections of its own. Never stale. */
  renewSession(id: string, signal: Ender): Promise<boolean>;
  destroySession(id: string, signal: Ender): Promise<void>;
  /** All or nothing. Reads are consistent. */
  transact(operations: readonly Operation[], signal: Ender): Promise<Result[]>;
  /** In default consistency. Has connections of its own. */
  query(query: BlockingQuery, signal: Ender): Promise<Found>;
  /** Names of all keys that begin with `prefix`, up to and with the next `/` after it. Consistent. */
  names(prefix: string, signal: Ender): Promise<string[]>;
  /** Registers a node in the catalog, unless it is there. */
  registerNode(node: string, signal: Ender): Promise<void>;
  /** Closes all connections: calls under way reject, nothing more is sent. */
  destroy(): void;
}

/** Makes a client; sends nothing. */
export type ConnectConsul = (options: ClientOptions, clock: Clock) => ConsulClient;

export interface ClientOptions {
  /** `http://host:port`, `https://host:port` or `unix:///path` */
  readonly address: string;
  readonly token: string | null;
  readonly datacenter: string | null;
  /** Consul Enterprise. */
  readonly namespace: string | null;
  /** Consul Enterprise. */
  readonly partition: string | null;
  readonly tls: TlsOptions | null;
  /** Longest wait for an answer to anything but a blocking query, ms. */
  readonly requestTimeout: number;
}

export interface TlsOptions {
  readonly ca: string | Buffer | undefined;
  readonly cert: string | Buffer | undefined;
  readonly key: string | Buffer | undefined;
  readonly passphrase: string | undefined;
  readonly servername: string | undefined;
  /** Whether the server's certificate is checked. */
  readonly verify: boolean;
}
