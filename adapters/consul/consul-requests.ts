import type { Ender } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import {
  type ConsulClient,
  MOST_OPERATIONS,
  type Operation,
  type Refusal,
  type RefusalKind,
  type Result,
  TransactionRefused,
} from "./client/consul-wire.js";
import { type Lifetime, waiting } from "./consul-lifetime.js";

/** One caller's operations: all or nothing. */
class Group {
  readonly operations: readonly Operation[];
  readonly resolve: (results: Result[]) => void;
  readonly reject: (error: unknown) => void;
  /** Has its answer, or nobody waits for it any more. */
  settled = false;
  /** Called when it settles, while it is on its way. */
  onSettled: (() => void) | null = null;

  constructor(operations: readonly Operation[], resolve: (results: Result[]) => void, reject: (error: unknown) => void) {
    this.operations = operations;
    this.resolve = resolve;
    this.reject = reject;
  }

  settle(): void {
    this.settled = true;
    this.onSettled?.();
  }
}

/** Bytes; half of what a server takes (kv_max_value_size, txn_max_req_len). */
const LARGEST_BYTES = 256 * 1024;
/** What an operation takes beside its key and value: verb, session, index, quotes. */
const OVERHEAD = 160;

/**
 * The transactions of a session. What is asked for in one turn of the event loop goes out together, in as few as it fits in: that is
 * five times the rate of one by one (measured), and few connections do. A transaction that is refused has done nothing: the
 * groups at fault hear of it, the others are sent again.
 */
export class Requests {
  readonly #client: ConsulClient;
  readonly #lifetime: Lifetime;
  readonly #session: string;
  #writes: Group[] = [];
  #reads: Group[] = [];
  #due = false;

  constructor(client: ConsulClient, lifetime: Lifetime, session: string) {
    this.#client = client;
    this.#lifetime = lifetime;
    this.#session = session;
  }

  /** Rejects with TransactionRefused, its operations counted as here. */
  write(operations: readonly Operation[], signal: Ender): Promise<Result[]> {
    return this.#add(this.#writes, operations, signal);
  }

  /** As `write`, for operations that change nothing: no raft entry. */
  read(operations: readonly Operation[], signal: Ender): Promise<Result[]> {
    return this.#add(this.#reads, operations, signal);
  }

  async #add(to: Group[], operations: readonly Operation[], signal: Ender): Promise<Result[]> {
    try {
      return await waiting(this.#lifetime, signal, (resolve, reject) => {
        const group = new Group(operations, resolve, reject);
        to.push(group);
        if (!this.#due) {
          this.#due = true;
          process.nextTick(() => this.#flush());
        }
        return () => group.settle();
      });
    } catch (error) {
      if (error instanceof TransactionRefused && this.#endedBy(error)) this.#lifetime.check();
      throw error;
    }
  }

  /** Whether our own session is the one that is invalid. */
  #endedBy({ refusals }: TransactionRefused): boolean {
    const ours = refusals.some(({ kind, what }) => kind === "session" && what.includes(this.#session));
    if (ours) this.#lifetime.end("the store does not know the session any more");
    return ours;
  }

  #flush(): void {
    const [writes, reads] = [this.#writes, this.#reads];
    this.#writes = [];
    this.#reads = [];
    this.#due = false;
    this.#send(writes);
    this.#send(reads);
  }

  #send(groups: readonly Group[]): void {
    let batch: Group[] = [];
    let count = 0;
    let bytes = 0;
    for (const group of groups) {
      if (group.settled) continue;
      const size = sizeOf(group);
      if (batch.length > 0 && (count + group.operations.length > MOST_OPERATIONS || bytes + size > LARGEST_BYTES)) {
        this.#transact(batch);
        batch = [];
        count = 0;
        bytes = 0;
      }
      batch.push(group);
      count += group.operations.length;
      bytes += size;
    }
    if (batch.length > 0) this.#transact(batch);
  }

  #transact(batch: readonly Group[]): void {
    const cancel = new AbortController();
    // The last one to give up takes the request, and its connection, with it.
    let awaited = batch.length;
    for (const group of batch) {
      group.onSettled = () => {
        if (--awaited === 0) cancel.abort(GIVEN_UP);
      };
    }
    this.#client
      .transact(
        batch.flatMap(({ operations }) => operations),
        cancel.signal,
      )
      .then(
        (results) => {
          let from = 0;
          for (const group of batch) group.resolve(results.slice(from, (from += group.operations.length)));
        },
        (error) => {
          if (error instanceof TransactionRefused) this.#refused(batch, error.refusals);
          else for (const group of batch) group.reject(error);
        },
      );
  }

  #refused(batch: readonly Group[], refusals: readonly Refusal[]): void {
    let from = 0;
    const innocent: Group[] = [];
    for (const group of batch) {
      const to = from + group.operations.length;
      const own = refusals.filter(({ operation }) => operation >= from && operation < to);
      const shift = from;
      if (own.length > 0) group.reject(new TransactionRefused(own.map((one) => ({ ...one, operation: one.operation - shift }))));
      else innocent.push(group);
      from = to;
    }
    // Whom nobody accuses would be refused for ever.
    if (innocent.length === batch.length) for (const group of batch) group.reject(new TransactionRefused(refusals));
    else this.#send(innocent);
  }
}

const GIVEN_UP = new Error("given up");

function sizeOf({ operations }: Group): number {
  let bytes = 0;
  for (const operation of operations) bytes += OVERHEAD + operation.key.length + ("value" in operation ? 2 * operation.value.length : 0);
  return bytes;
}

/** Whether `error` says that one of the operations (or the one of this number) was refused so. */
export function isRefused(error: unknown, kind: RefusalKind, operation?: number): error is TransactionRefused {
  if (!(error instanceof TransactionRefused)) return false;
  return error.refusals.some((refusal) => refusal.kind === kind && (operation === undefined || refusal.operation === operation));
}

/** What a refusal that no protocol step expects is to the core. */
export function asStoreError(error: unknown): unknown {
  if (!(error instanceof TransactionRefused)) return error;
  const auth = error.refusals.find(({ kind }) => kind === "auth");
  if (auth) return new StoreError("auth", `the token may not do that: ${auth.what}`, { cause: error });
  return new StoreError("rejected", `the server refused: ${error.message}`, { cause: error });
}
