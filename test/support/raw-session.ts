import { createRequire } from "node:module";
import type { ZooKeeperAcl } from "../../adapters/zookeeper/index.js";
import { PATIENCE, until, within } from "./wait-for.js";

/*
 * A second ZooKeeper client for tests: node-zookeeper-client as it is, with promises. Not for links that fail: the package
 * never answers some requests then.
 */

/** The part of node-zookeeper-client that is used here; it has no types of its own. */
interface NodeZooKeeper {
  createClient(servers: string, options: Record<string, unknown>): NodeZooKeeperClient;
  State: Record<"SYNC_CONNECTED", object>;
  CreateMode: Record<string, number>;
  ACL: new (permissions: number, id: object) => object;
  Id: new (scheme: string, id: string) => object;
}
interface NodeZooKeeperClient {
  on(event: "state", listener: (state: object) => void): void;
  connect(): void;
  close(): void;
  getSessionId(): Buffer;
  getSessionPassword(): Buffer;
  getSessionTimeout(): number;
  addAuthInfo(scheme: string, credentials: Buffer): void;
  mkdirp(path: string, done: Callback<[string]>): void;
  create(path: string, data: Buffer, mode: number, done: Callback<[string]>): void;
  getData(path: string, done: Callback<[Buffer | undefined, NodeZooKeeperStat]>): void;
  setData(path: string, data: Buffer, version: number, done: Callback<[NodeZooKeeperStat]>): void;
  getChildren(path: string, done: Callback<[string[]]>): void;
  exists(path: string, done: Callback<[NodeZooKeeperStat | null]>): void;
  remove(path: string, version: number, done: Callback<[]>): void;
  setACL(path: string, acls: object[], version: number, done: Callback<[NodeZooKeeperStat]>): void;
  transaction(): NodeZooKeeperTransaction;
}
interface NodeZooKeeperTransaction {
  readonly ops: { version?: number }[];
  create(path: string, data: Buffer): void;
  setData(path: string, data: Buffer, version: number): void;
  check(path: string, version: number): void;
  remove(path: string, version: number): void;
  commit(done: Callback<[unknown]>): void;
}
type Callback<T extends unknown[]> = (error: Error | null, ...result: T) => void;
type NodeZooKeeperStat = { version: number; numChildren: number } & Record<"czxid" | "mzxid" | "ephemeralOwner", Buffer>;

const zookeeper = createRequire(import.meta.url)("node-zookeeper-client") as NodeZooKeeper;

export interface RawStat {
  readonly version: number;
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ephemeralOwner: bigint;
  readonly numChildren: number;
}

export type RawOperation =
  | { readonly op: "create"; readonly path: string; readonly data?: string }
  | { readonly op: "set"; readonly path: string; readonly data: string; readonly version?: number }
  | { readonly op: "check"; readonly path: string; readonly version: number }
  | { readonly op: "delete"; readonly path: string; readonly version?: number };

export interface RawOptions {
  /** Milliseconds. Default 10,000. */
  readonly sessionTimeout?: number;
  /** `user:password`. */
  readonly digest?: string;
}

/** Opens a session of its own. Rejects when there is no connection for as long as {@link PATIENCE}. */
export async function connectRaw(address: string, options: RawOptions = {}): Promise<RawSession> {
  const { sessionTimeout = 10_000, digest } = options;
  const client = zookeeper.createClient(address, { sessionTimeout, spinDelay: 100, retries: 0 });
  let connected = false;
  client.on("state", (state) => {
    connected = state === zookeeper.State.SYNC_CONNECTED;
  });
  if (digest) client.addAuthInfo("digest", Buffer.from(digest));
  client.connect();
  try {
    await until(() => connected, { what: `a session at ${address}` });
  } catch (error) {
    client.close();
    throw error;
  }
  return new RawSession(client, () => connected);
}

/** Data are text. A failed request rejects with the package's exception (`name`: NO_NODE, BAD_VERSION, …), or after {@link PATIENCE}. */
export class RawSession {
  readonly #client: NodeZooKeeperClient;
  readonly #connected: () => boolean;

  constructor(client: NodeZooKeeperClient, connected: () => boolean) {
    this.#client = client;
    this.#connected = connected;
  }

  get id(): bigint {
    return this.#client.getSessionId().readBigInt64BE();
  }
  get password(): Buffer {
    return this.#client.getSessionPassword();
  }
  get timeout(): number {
    return this.#client.getSessionTimeout();
  }
  get connected(): boolean {
    return this.#connected();
  }

  /** Resolves to the path that was made. */
  create(
    path: string,
    data = "",
    mode: "persistent" | "ephemeral" | "ephemeral-sequential" | "persistent-sequential" = "persistent",
  ): Promise<string> {
    const number = zookeeper.CreateMode[mode.toUpperCase().replace("-", "_")] as number;
    return call<[string]>(`create ${path}`, (done) => this.#client.create(path, Buffer.from(data), number, done)).then(([made]) => made);
  }
  /** Makes it and its parents, as far as they are missing. */
  async ensure(path: string): Promise<void> {
    await call<[string]>(`ensure ${path}`, (done) => this.#client.mkdirp(path, done));
  }
  async get(path: string): Promise<{ data: string; stat: RawStat }> {
    const [data, stat] = await call<[Buffer | undefined, NodeZooKeeperStat]>(`get ${path}`, (done) => this.#client.getData(path, done));
    return { data: data?.toString() ?? "", stat: readable(stat) };
  }
  async set(path: string, data: string, version = -1): Promise<RawStat> {
    const [stat] = await call<[NodeZooKeeperStat]>(`set ${path}`, (done) => this.#client.setData(path, Buffer.from(data), version, done));
    return readable(stat);
  }
  /** Sets who may do what with it, as zkCli.sh's setAcl does. */
  async allow(path: string, acl: readonly ZooKeeperAcl[]): Promise<void> {
    const acls = acl.map(({ permissions, scheme, id }) => {
      const bits = [..."rwcda"].reduce((sum, letter, index) => sum + (permissions.includes(letter) ? 1 << index : 0), 0);
      return new zookeeper.ACL(bits, new zookeeper.Id(scheme, id));
    });
    await call<[NodeZooKeeperStat]>(`setAcl ${path}`, (done) => this.#client.setACL(path, acls, -1, done));
  }
  async children(path: string): Promise<string[]> {
    return (await call<[string[]]>(`children of ${path}`, (done) => this.#client.getChildren(path, done)))[0];
  }
  async exists(path: string): Promise<RawStat | null> {
    const [stat] = await call<[NodeZooKeeperStat | null]>(`exists ${path}`, (done) => this.#client.exists(path, done));
    return stat ? readable(stat) : null;
  }
  async delete(path: string, version = -1): Promise<void> {
    await call<[]>(`delete ${path}`, (done) => this.#client.remove(path, version, done));
  }
  /** Deletes a node and all below it. */
  async deleteAll(path: string): Promise<void> {
    for (const child of await this.children(path)) await this.deleteAll(`${path}/${child}`);
    await this.delete(path);
  }
  /**
   * Waits until this session sees all that has been committed. The package has no `sync`; an empty-handed write by the
   * ensemble leader does the same for reads that follow.
   */
  async sync(path = "/"): Promise<void> {
    await this.multi([{ op: "check", path, version: -1 }]);
  }
  /** All or nothing. */
  async multi(operations: readonly RawOperation[]): Promise<void> {
    const transaction = this.#client.transaction();
    for (const each of operations) {
      if (each.op === "create") transaction.create(each.path, Buffer.from(each.data ?? ""));
      else if (each.op === "set") transaction.setData(each.path, Buffer.from(each.data), each.version ?? -1);
      else if (each.op === "check") transaction.check(each.path, each.version);
      else transaction.remove(each.path, each.version ?? -1);
      // The package makes "any version" of version 0.
      const made = transaction.ops.at(-1);
      if (made && each.op !== "create") made.version = each.version ?? -1;
    }
    await call<[unknown]>("multi", (done) => transaction.commit(done));
  }
  /** Ends the session. Resolves when the server has confirmed it. */
  async close(): Promise<void> {
    this.#client.close();
    await until(() => !this.#connected(), { what: "the session is closed" });
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function call<T extends unknown[]>(what: string, request: (done: Callback<T>) => void): Promise<T> {
  const answer = new Promise<T>((resolve, reject) => request((error, ...result) => (error ? reject(error) : resolve(result))));
  return within(answer, PATIENCE, what);
}

function readable(stat: NodeZooKeeperStat): RawStat {
  const { version, numChildren, czxid, mzxid, ephemeralOwner } = stat;
  const number = (long: Buffer) => long.readBigInt64BE();
  return { version, numChildren, czxid: number(czxid), mzxid: number(mzxid), ephemeralOwner: number(ephemeralOwner) };
}
