import type { Entry, Operation, Refusal, RefusalKind, Result } from "./consul-wire.js";

/** As Go's `api.Lock` demands them of a key (LockFlagValue). Text: a double cannot hold it. */
const LOCK_FLAGS = "3304740253564472344";

/** An entry as the HTTP API shows it. */
interface RawEntry {
  readonly Key: string;
  readonly Value: string | null;
  readonly Session?: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface RawTransaction {
  readonly Results: readonly { readonly KV?: RawEntry }[] | null;
  readonly Errors: readonly { readonly OpIndex: number; readonly What: string }[] | null;
  /** Of reads: results are missing that the token may not see. */
  readonly ResultsFilteredByACLs?: boolean;
}

/** Enterprise: each operation names them for itself. */
export interface Where {
  readonly namespace: string | null;
  readonly partition: string | null;
}

/** The body of a transaction. Written by hand where JSON.stringify would round: flags have 64 bits. */
export function encodeTransaction(operations: readonly Operation[], { namespace, partition }: Where): Buffer {
  const parts = operations.map((operation) => {
    const fields: string[] = [`"Verb":"${operation.verb}"`, `"Key":${JSON.stringify(operation.key)}`];
    if ("value" in operation) fields.push(`"Value":"${Buffer.from(operation.value).toString("base64")}"`);
    if ("session" in operation) fields.push(`"Session":${JSON.stringify(operation.session)}`);
    if ("index" in operation) fields.push(`"Index":${operation.index}`);
    if (operation.verb === "lock" || operation.verb === "unlock") fields.push(`"Flags":${LOCK_FLAGS}`);
    if (namespace !== null) fields.push(`"Namespace":${JSON.stringify(namespace)}`);
    if (partition !== null) fields.push(`"Partition":${JSON.stringify(partition)}`);
    return `{"KV":{${fields.join(",")}}}`;
  });
  return Buffer.from(`[${parts.join(",")}]`);
}

/** Gives each operation its results: `delete` has none, `get-tree` as many as there are entries. */
export function decodeResults(operations: readonly Operation[], { Results }: RawTransaction): Result[] {
  const entries = (Results ?? []).flatMap(({ KV }) => (KV ? [KV] : []));
  let next = 0;
  return operations.map(({ verb, key }) => {
    if (verb === "delete" || verb === "delete-cas") return null;
    if (verb === "get-tree") {
      const from = next;
      while (entries[next]?.Key.startsWith(key)) next++;
      return entries.slice(from, next).map(decodeEntry);
    }
    const entry = entries[next++];
    return entry && entry.ModifyIndex > 0 && entry.Key === key ? decodeEntry(entry) : null;
  });
}

export function decodeEntry({ Key, Value, Session, CreateIndex, ModifyIndex }: RawEntry): Entry {
  return {
    key: Key,
    value: Value === null ? "" : Buffer.from(Value, "base64").toString(),
    session: Session || null,
    createIndex: CreateIndex,
    modifyIndex: ModifyIndex,
  };
}

/** What a query on keys gives; 404 gives nothing. */
export function decodeEntries(body: unknown): Entry[] {
  return Array.isArray(body) ? (body as RawEntry[]).map(decodeEntry) : [];
}

export function decodeRefusals({ Errors }: RawTransaction): Refusal[] {
  return (Errors ?? []).map(({ OpIndex, What }) => ({ operation: OpIndex, kind: kindOf(What), what: What }));
}

/** Texts of agent/consul/state/txn.go, kvs.go and agent/consul/txn_endpoint.go; parts of them, for they come with prefixes. */
function kindOf(what: string): RefusalKind {
  if (what.includes("due to lock delay")) return "delay";
  if (what.includes("lock is already held")) return "held";
  if (/invalid session|missing session/.test(what)) return "session";
  if (/Permission denied|ACL not found/.test(what)) return "auth";
  if (/failed to (check|unlock|set|delete|get)|index is stale|doesn't exist/.test(what)) return "check";
  return "other";
}
