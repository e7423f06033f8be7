/** What a held seat gives to who knows Consul: enough to fence a transaction by it. */
export interface ConsulHandle {
  /** The lock. */
  readonly leaderKey: string;
  /** The session that holds it. */
  readonly session: string;
  readonly termKey: string;
  /** The ModifyIndex that `termKey` keeps for as long as this term is the newest. */
  readonly index: number;
}

/** An operation of Consul's transaction API, as the `consul` package takes it. */
export type CheckingOperation =
  | { readonly KV: { readonly Verb: "check-session"; readonly Key: string; readonly Session: string } }
  | { readonly KV: { readonly Verb: "check-index"; readonly Key: string; readonly Index: number } };

/**
 * The operations that fail once this term is over: a transaction that begins with them cannot be committed for it then.
 * `handle` is that of a term held on Consul; anything else is a TypeError.
 */
export function fence(handle: unknown): [CheckingOperation, CheckingOperation] {
  if (!isHandle(handle)) throw new TypeError("expected the handle of a term that is held on Consul");
  return [
    { KV: { Verb: "check-session", Key: handle.leaderKey, Session: handle.session } },
    { KV: { Verb: "check-index", Key: handle.termKey, Index: handle.index } },
  ];
}

/** Whether `value` is the handle of a term that is held on Consul. */
export function isHandle(value: unknown): value is ConsulHandle {
  const { leaderKey, session, termKey, index } = (value ?? {}) as Partial<ConsulHandle>;
  return [leaderKey, session, termKey].every((text) => typeof text === "string") && Number.isInteger(index);
}
