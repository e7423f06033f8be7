import type { Ender } from "../../src/clock.js";
import { isZooKeeperError, type ZooKeeperCode, ZooKeeperError } from "./client/zookeeper-error.js";
import type { Operation, Watch, Watched, ZooKeeperClient, ZooKeeperStat } from "./client/zookeeper-wire.js";
import type { Identity } from "./zookeeper-options.js";
import { parentOf } from "./zookeeper-paths.js";
import { Turn, type WriteResult } from "./zookeeper-turn.js";

/**
 * The requests of one session. Reads are sent within the call, writes at the end of the turn. A refusal for lack of
 * permission says which permission is missing where.
 */
export class Requests {
  readonly #client: ZooKeeperClient;
  readonly #turn: Turn;
  readonly #identity: Identity;

  constructor(client: ZooKeeperClient, identity: Identity) {
    this.#client = client;
    this.#turn = new Turn(client);
    this.#identity = identity;
  }

  /** Whether permissions may be missing: then it is worth asking for one before it is needed. */
  get guarded(): boolean {
    return this.#identity.guarded;
  }

  get sessionId(): bigint {
    return this.#client.sessionId;
  }

  getData(path: string, signal: Ender): Promise<{ data: Buffer; stat: ZooKeeperStat }> {
    return this.#explained(this.#client.getData(path, signal), () => `READ on ${path}`);
  }

  getChildren(path: string, signal: Ender): Promise<{ children: string[]; stat: ZooKeeperStat }> {
    return this.#explained(this.#client.getChildren(path, signal), () => `READ on ${path}`);
  }

  exists(path: string, signal: Ender): Promise<ZooKeeperStat | null> {
    return this.#explained(this.#client.exists(path, signal), () => `READ on ${path}`);
  }

  sync(path: string, signal: Ender): Promise<void> {
    return this.#client.sync(path, signal);
  }

  watch<K extends keyof Watched>(kind: K, path: string, signal: Ender): Watch<Watched[K]> {
    const watch = this.#client.watch(kind, path, signal);
    watch.armed = this.#explained(watch.armed, () => `READ on ${path}`);
    return watch;
  }

  /** Resolves when the writes asked for so far are on their way: a read sent then is behind them. Null: they are. */
  written(): Promise<void> | null {
    return this.#turn.written();
  }

  /** All or nothing. Every write of the session goes through here: those of one turn of the event loop share transactions. */
  write(operations: readonly Operation[], signal: Ender): Promise<WriteResult[]> {
    return this.#explained(this.#turn.write(operations, signal), (index) => permissionFor(operations[index]));
  }

  async #explained<T>(promise: Promise<T>, permission: (index: number) => string): Promise<T> {
    try {
      return await promise;
    } catch (error) {
      if (isZooKeeperError(error, "INVALIDACL")) {
        const message =
          "INVALIDACL: the server does not know a scheme of the option acl, or takes an id there for malformed, or knows no identity of ours that the scheme auth could mean";
        throw new ZooKeeperError("INVALIDACL", message, { cause: error, index: error.index });
      }
      if (!isZooKeeperError(error, "NOAUTH")) throw error;
      const { name, advice } = this.#identity;
      const message = `NOAUTH: ${name} lacks the permission ${permission(error.index)}: ${advice}`;
      throw new ZooKeeperError("NOAUTH", message, { cause: error, index: error.index });
    }
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
