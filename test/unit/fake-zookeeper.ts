import { ZooKeeperError } from "../../adapters/zookeeper/client/zookeeper-error.js";
import type { Operation, Watch, Watched, ZooKeeperClient, ZooKeeperStat } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { StoreError } from "../../src/errors.js";

interface Node {
  readonly data: Buffer;
  readonly stat: ZooKeeperStat;
}
type Tree = ReadonlyMap<string, Node>;

/** Every state that was ever committed, by its zxid. */
export class FakeEnsemble {
  readonly #states: Tree[] = [new Map()];
  /** The number that the next sequential node gets; it goes on below zero, as a server's with creates in flight does. */
  sequence = 0;

  get zxid(): number {
    return this.#states.length - 1;
  }

  at(zxid: number): Tree {
    return this.#states[zxid] as Tree;
  }

  /** All or nothing; the results, or the error, of the transaction. */
  commit(operations: readonly Operation[], session: bigint): (string | ZooKeeperStat | null)[] {
    const tree = new Map(this.at(this.zxid));
    const results = operations.map((operation, index) => this.#apply(tree, operation, session, index));
    this.#states.push(tree);
    return results;
  }

  #apply(tree: Map<string, Node>, operation: Operation, session: bigint, index: number): string | ZooKeeperStat | null {
    const zxid = BigInt(this.zxid + 1);
    const refuse = (zk: "NONODE" | "NODEEXISTS" | "BADVERSION") => new ZooKeeperError(zk, `${zk} ${operation.path}`, { index });
    const node = tree.get(operation.path);
    if (operation.op === "create") {
      const sequential = operation.mode === "ephemeral-sequential";
      const path = sequential ? operation.path + numbered(this.sequence++) : operation.path;
      this.sequence |= 0;
      const parent = path.slice(0, path.lastIndexOf("/"));
      if (parent !== "" && !tree.has(parent)) throw refuse("NONODE");
      if (tree.has(path)) throw refuse("NODEEXISTS");
      const ephemeralOwner = operation.mode === "persistent" ? 0n : session;
      const stat = { czxid: zxid, mzxid: zxid, ctime: 0, mtime: 0, version: 0, cversion: 0, ephemeralOwner, numChildren: 0 };
      tree.set(path, { data: operation.data, stat });
      return path;
    }
    if (node === undefined) throw refuse("NONODE");
    if (operation.version !== -1 && operation.version !== node.stat.version) throw refuse("BADVERSION");
    if (operation.op === "check") return null;
    if (operation.op === "delete") {
      tree.delete(operation.path);
      return null;
    }
    const stat = { ...node.stat, mzxid: zxid, version: node.stat.version + 1 };
    tree.set(operation.path, { data: operation.data, stat });
    return stat;
  }
}

/** One session. Everything happens within the call; the answer comes later. */
export class FakeClient implements ZooKeeperClient {
  readonly sessionId: bigint;
  readonly timeout = 8000;
  readonly #end = new AbortController();
  readonly ended: AbortSignal = this.#end.signal;
  /** What was asked, in order: `create /a/b`. */
  readonly log: string[] = [];
  /** Whether this session's server has stopped to follow the others; a `sync` and the session's own writes still show. */
  lagging = false;
  /** The names of requests whose next answer is lost. */
  readonly lose = new Set<string>();
  /** Called before each request, with its line of the log. */
  before: (line: string) => void = () => {};
  readonly #ensemble: FakeEnsemble;
  #seen = 0;

  constructor(ensemble: FakeEnsemble, sessionId: bigint) {
    this.#ensemble = ensemble;
    this.sessionId = sessionId;
  }

  async create(path: string, data: Buffer, mode: "persistent" | "ephemeral" | "ephemeral-sequential") {
    return String((await this.#write("create", [{ op: "create", path, data, mode }]))[0]);
  }
  async delete(path: string, version: number) {
    await this.#write("delete", [{ op: "delete", path, version }]);
  }
  async setData(path: string, data: Buffer, version: number) {
    return (await this.#write("setData", [{ op: "setData", path, data, version }]))[0] as ZooKeeperStat;
  }
  multi(operations: readonly Operation[]) {
    return this.#write("multi", operations);
  }
  async getData(path: string) {
    return this.#read("getData", path, (tree) => found(tree, path));
  }
  async exists(path: string) {
    return this.#read("exists", path, (tree) => tree.get(path)?.stat ?? null);
  }
  async getChildren(path: string) {
    return this.#read("getChildren", path, (tree) => listed(tree, path));
  }
  async sync(path: string) {
    this.#log("sync", path);
    this.#seen = this.#ensemble.zxid;
    this.#answer("sync");
  }
  async prove(): Promise<never> {
    throw new Error("not of this fake");
  }
  /** Never fires: these tests look at what can be known when it is armed. */
  watch<K extends keyof Watched>(kind: K, path: string): Watch<Watched[K]> {
    const armed = this.#read(
      `watch ${kind}`,
      path,
      (tree) => (kind === "list" ? listed(tree, path) : found(tree, path)) as unknown as Watched[K],
    );
    return { armed, fired: new Promise(() => {}), release: () => {} };
  }
  async close() {
    this.destroy();
  }
  destroy() {
    this.#end.abort(new StoreError("session-ended", "closed"));
  }

  async #write(name: string, operations: readonly Operation[]) {
    this.#log(name, operations.map(({ path }) => path).join(" "));
    const results = this.#ensemble.commit(operations, this.sessionId);
    const { zxid } = this.#ensemble;
    this.#answer(name);
    this.#seen = zxid;
    return results;
  }

  async #read<T>(name: string, path: string, read: (tree: Tree) => T): Promise<T> {
    this.#log(name, path);
    if (!this.lagging) this.#seen = this.#ensemble.zxid;
    const result = read(this.#ensemble.at(this.#seen));
    this.#answer(name);
    return result;
  }

  #log(name: string, path: string): void {
    const line = `${name} ${path}`;
    this.before(line);
    this.log.push(line);
  }

  #answer(name: string): void {
    if (this.lose.delete(name)) throw new ZooKeeperError("CONNECTIONLOSS", "the connection broke");
  }
}

function listed(tree: Parameters<typeof found>[0], path: string) {
  const { stat } = found(tree, path);
  const below = [...tree.keys()].filter((each) => each.startsWith(`${path}/`) && !each.slice(path.length + 1).includes("/"));
  // A server promises no order; the reverse of that of creation is the one that helps least.
  return { children: below.map((each) => each.slice(path.length + 1)).reverse(), stat };
}

function found(tree: Tree, path: string): Node {
  const node = tree.get(path);
  if (node === undefined) throw new ZooKeeperError("NONODE", `NONODE ${path}`);
  return node;
}

/** As Java's %010d writes it. */
function numbered(sequence: number): string {
  return sequence < 0 ? `-${String(-sequence).padStart(9, "0")}` : String(sequence).padStart(10, "0");
}
