import {
  type Entry,
  type Found,
  type Operation,
  type Refusal,
  type RefusalKind,
  type Result,
  TransactionRefused,
} from "../../../adapters/consul/client/consul-wire.js";

interface Pair {
  readonly value: string;
  readonly session: string | null;
  readonly createIndex: number;
  readonly modifyIndex: number;
}

export interface ModelSession {
  readonly id: string;
  /** ms */
  readonly ttl: number;
  /** ms */
  readonly lockDelay: number;
}

class Failed extends Error {
  readonly kind: RefusalKind;
  constructor(kind: RefusalKind, what: string) {
    super(what);
    this.kind = kind;
  }
}

const READS = new Set(["get-or-empty", "get-tree", "check-index", "check-session"]);

/** What Consul's state store knows (agent/consul/state: kvs.go, session.go, txn.go; field notes, sections 2.1 to 2.6). */
export class ModelState {
  index = 10;
  readonly pairs = new Map<string, Pair>();
  readonly sessions = new Map<string, ModelSession>();
  /** Keys under lock-delay, and until when. */
  readonly #delays = new Map<string, number>();
  readonly #tombstones = new Map<string, number>();

  /** All or nothing. A refusal is a raft entry too, unless it is by lock-delay. */
  transact(operations: readonly Operation[], now: number): Result[] {
    const delayed = operations.flatMap(({ verb, key }, operation): Refusal[] =>
      verb === "lock" && (this.#delays.get(key) ?? 0) > now
        ? [{ operation, kind: "delay", what: `failed to lock key "${key}" due to lock delay` }]
        : [],
    );
    if (delayed.length > 0) throw new TransactionRefused(delayed);
    if (operations.some(({ verb }) => !READS.has(verb))) this.index++;
    const draft = new Map<string, Pair | null>();
    const results: Result[] = [];
    const refusals: Refusal[] = [];
    operations.forEach((each, operation) => {
      try {
        results.push(this.#apply(each, draft));
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        results.push(null);
        refusals.push({ operation, kind: error.kind, what: error.message });
      }
    });
    if (refusals.length > 0) throw new TransactionRefused(refusals);
    for (const [key, pair] of draft) this.#write(key, pair);
    return results;
  }

  createSession(session: ModelSession): void {
    this.index++;
    this.sessions.set(session.id, session);
  }

  /** Everything that it holds goes with it, in one entry. */
  destroySession(id: string, now: number): void {
    const session = this.sessions.get(id);
    if (!session) return;
    this.index++;
    this.sessions.delete(id);
    for (const [key, pair] of [...this.pairs]) {
      if (pair.session !== id) continue;
      this.#write(key, null);
      if (session.lockDelay > 0) this.#delays.set(key, now + session.lockDelay);
    }
  }

  /** As an operator, past all locks. */
  remove(prefix: string): void {
    this.index++;
    for (const key of [...this.pairs.keys()]) if (key.startsWith(prefix)) this.#write(key, null);
  }

  /** A plain write, by anybody: a lock stays whose it is. */
  put(key: string, value: string): void {
    this.index++;
    const old = this.pairs.get(key);
    this.pairs.set(key, { value, session: old?.session ?? null, createIndex: old?.createIndex ?? this.index, modifyIndex: this.index });
  }

  /** What a query sees now. */
  find(key: string, recurse: boolean): Found {
    if (!recurse) {
      const entry = this.#entry(key, this.pairs.get(key) ?? null);
      return { index: entry?.modifyIndex ?? this.index, entries: entry ? [entry] : [] };
    }
    const entries = this.tree(key);
    const removed = [...this.#tombstones].filter(([each]) => each.startsWith(key)).map(([, index]) => index);
    return { index: entries.length === 0 ? this.index : Math.max(...removed, ...entries.map(({ modifyIndex }) => modifyIndex)), entries };
  }

  tree(prefix: string, draft: ReadonlyMap<string, Pair | null> = new Map()): Entry[] {
    const keys = new Set([...this.pairs.keys(), ...draft.keys()]);
    return [...keys]
      .filter((key) => key.startsWith(prefix))
      .sort()
      .flatMap((key) => this.#entry(key, this.#read(key, draft)) ?? []);
  }

  #apply(operation: Operation, draft: Map<string, Pair | null>): Result {
    const { verb, key } = operation;
    const old = this.#read(key, draft);
    switch (verb) {
      case "lock": {
        const { session } = operation;
        if (!this.sessions.has(session)) throw new Failed("session", `invalid session "${session}"`);
        if (old?.session != null && old.session !== session) throw new Failed("held", `failed to lock key "${key}", lock is already held`);
        return this.#set(key, operation.value, session, old, draft);
      }
      case "unlock":
        if (old?.session !== operation.session)
          throw new Failed("check", `failed to unlock key "${key}", lock isn't held, or is held by another session`);
        return this.#set(key, operation.value, null, old, draft);
      case "cas":
        if ((old?.modifyIndex ?? 0) !== operation.index) throw new Failed("check", `failed to set key "${key}", index is stale`);
        return this.#set(key, operation.value, old?.session ?? null, old, draft);
      case "delete":
        draft.set(key, null);
        return null;
      case "delete-cas":
        if (old?.modifyIndex !== operation.index) throw new Failed("check", `failed to delete key "${key}", index is stale`);
        draft.set(key, null);
        return null;
      case "check-index":
        if (old?.modifyIndex !== operation.index) throw new Failed("check", `failed index check for key "${key}"`);
        return this.#entry(key, old);
      case "check-session":
        if (old?.session == null || old.session !== operation.session) throw new Failed("check", `failed to check session, key "${key}"`);
        return this.#entry(key, old);
      case "get-or-empty":
        return this.#entry(key, old);
      case "get-tree":
        return this.tree(key, draft);
    }
  }

  /** An entry that stays as it is keeps its index. */
  #set(key: string, value: string, session: string | null, old: Pair | null, draft: Map<string, Pair | null>): Entry | null {
    const same = old !== null && old.value === value && old.session === session;
    const pair = { value, session, createIndex: old?.createIndex ?? this.index, modifyIndex: same ? old.modifyIndex : this.index };
    draft.set(key, pair);
    const entry = this.#entry(key, pair);
    return entry && { ...entry, value: "" };
  }

  #read(key: string, draft: ReadonlyMap<string, Pair | null>): Pair | null {
    const drafted = draft.get(key);
    return drafted === undefined ? (this.pairs.get(key) ?? null) : drafted;
  }

  #write(key: string, pair: Pair | null): void {
    if (pair) this.pairs.set(key, pair);
    else if (this.pairs.delete(key)) this.#tombstones.set(key, this.index);
  }

  #entry(key: string, pair: Pair | null): Entry | null {
    return pair && { key, ...pair };
  }
}
