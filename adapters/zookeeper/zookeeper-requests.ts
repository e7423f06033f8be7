import { isZooKeeperError, type ZooKeeperCode, ZooKeeperError } from "./client/zookeeper-error.js";
import type { Operation, Watch, Watched, ZooKeeperClient, ZooKeeperStat } from "./client/zookeeper-wire.js";
import { parentOf } from "./zookeeper-paths.js";
import { Turn, type WriteResult } from "./zookeeper-turn.js";

/**
 * The requests of one session. Reads are sent within the call, writes at the end of the turn. A refusal for lack of
 * permission says which permission is missing where.
 */
export class Requests {
  readonly #client: ZooKeeperClient;
  readonly #turn: Turn;

  constructor(client: ZooKeeperClient) {
    this.#client = client;
    this.#turn = new Turn(client);
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

  watch<K extends keyof Watched>(kind: K, path: string, signal: AbortSignal): Watch<Watched[K]> {
    const watch = this.#client.watch(kind, path, signal);
    watch.armed = explained(watch.armed, () => `READ on ${path}`);
    return watch;
  }

  /** Resolves when the writes asked for so far are on their way: a read sent then is behind them. Null: they are. */
  written(): Promise<void> | null {
    return this.#turn.written();
  }

  /** All or nothing. Every write of the session goes through here: those of one turn of the event loop share transactions. */
  write(operations: readonly Operation[], signal: AbortSignal): Promise<WriteResult[]> {
    return explained(this.#turn.write(operations, signal), (index) => permissionFor(operations[index]));
  }
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
