import { isZooKeeperError, type ZooKeeperCode, ZooKeeperError } from "./zookeeper-error.js";
import { parentOf } from "./zookeeper-paths.js";
import type { Operation, Watch, ZooKeeperClient, ZooKeeperStat } from "./zookeeper-wire.js";

/** What an operation answers: the path for create, the stat for setData, null for the others. */
export type WriteResult = string | ZooKeeperStat | null;

/**
 * The requests of one session. Each is sent within the call, so that those of one turn go out in order. A refusal for lack
 * of permission says which permission is missing where.
 */
export class Requests {
  readonly #client: ZooKeeperClient;

  constructor(client: ZooKeeperClient) {
    this.#client = client;
  }

  get sessionId(): bigint {
    return this.#client.sessionId;
  }

  getData(path: string, signal: AbortSignal): Promise<{ data: Buffer; stat: ZooKeeperStat }> {
    return explained(this.#client.getData(path, signal), () => `READ on ${path}`);
  }

  getChildren(path: string, signal: AbortSignal): Promise<{ children: string[]; stat: ZooKeeperStat }> {
    return explained(this.#client.getChildren(path, signal), () => `READ on ${path}`);
  }

  exists(path: string, signal: AbortSignal): Promise<ZooKeeperStat | null> {
    return explained(this.#client.exists(path, signal), () => `READ on ${path}`);
  }

  sync(path: string, signal: AbortSignal): Promise<void> {
    return this.#client.sync(path, signal);
  }

  watch(kind: "children" | "data" | "exists", path: string, signal: AbortSignal): Watch {
    const watch = this.#client.watch(kind, path, signal);
    return { armed: explained(watch.armed, () => `READ on ${path}`), fired: watch.fired, release: () => watch.release() };
  }

  /** All or nothing. Every write of the session goes through here, so that those of one turn can share a transaction one day. */
  write(operations: readonly Operation[], signal: AbortSignal): Promise<WriteResult[]> {
    return explained(this.#write(operations, signal), (index) => permissionFor(operations[index]));
  }

  async #write(operations: readonly Operation[], signal: AbortSignal): Promise<WriteResult[]> {
    const [only, ...others] = operations;
    if (only === undefined || others.length > 0) return this.#client.multi(operations, signal);
    switch (only.op) {
      case "create":
        return [await this.#client.create(only.path, only.data, only.mode, signal)];
      case "delete":
        await this.#client.delete(only.path, only.version, signal);
        return [null];
      case "setData":
        return [await this.#client.setData(only.path, only.data, only.version, signal)];
      case "check":
        return this.#client.multi(operations, signal);
    }
  }
}

/** Answers that say for sure that nothing was done. Every other failure is doubtful, which costs a look and never an entry. */
const REFUSALS: ReadonlySet<ZooKeeperCode> = new Set<ZooKeeperCode>([
  "NONODE",
  "NODEEXISTS",
  "BADVERSION",
  "BADARGUMENTS",
  "NOAUTH",
  "INVALIDACL",
  "NOCHILDRENFOREPHEMERALS",
  "NOTEMPTY",
  "NOTREADONLY",
  "UNIMPLEMENTED",
  "QUOTAEXCEEDED",
  "EPHEMERALONLOCALSESSION",
]);

/** Whether the server has surely not done what failed with `error`. */
export function isRefusal(error: unknown): error is ZooKeeperError {
  return error instanceof ZooKeeperError && REFUSALS.has(error.zk);
}

/** Waits for `promise`, but not for a refusal by one of the names `zk`: that gives undefined. */
export async function tolerate<T>(promise: Promise<T>, ...zk: ZooKeeperCode[]): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (zk.some((name) => isZooKeeperError(error, name))) return undefined;
    throw error;
  }
}

async function explained<T>(promise: Promise<T>, permission: (index: number) => string): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (!isZooKeeperError(error, "NOAUTH")) throw error;
    const message = `NOAUTH: the credentials given to this store lack the permission ${permission(error.index)}`;
    throw new ZooKeeperError("NOAUTH", message, { cause: error, index: error.index });
  }
}

function permissionFor(operation: Operation | undefined): string {
  switch (operation?.op) {
    case "create":
      return `CREATE on ${parentOf(operation.path) || "/"}`;
    case "delete":
      return `DELETE on ${parentOf(operation.path) || "/"}`;
    case "setData":
      return `WRITE on ${operation.path}`;
    case "check":
      return `READ on ${operation.path}`;
    case undefined:
      return "for a transaction";
  }
}
