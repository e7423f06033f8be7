import type { Instant } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import type { Exchange } from "./zookeeper-client-call.js";
import type { Jute, JuteOperation, JuteRecord, OpName, RecordName } from "./zookeeper-client-package.js";
import type { PendingWatch, WatchKind } from "./zookeeper-client-watches.js";
import { ZooKeeperError, zooKeeperCode } from "./zookeeper-error.js";
import type { CreateMode, Operation, Watched, ZooKeeperAcl, ZooKeeperStat } from "./zookeeper-wire.js";

/** What a server takes by default (jute.maxbuffer); it closes the connection on anything longer. */
const LARGEST_REQUEST = 0xfffff;
const MODES: Readonly<Record<CreateMode, number>> = { persistent: 0, ephemeral: 1, "ephemeral-sequential": 3 };
const PERMISSIONS: Readonly<Record<string, number>> = { r: 1, w: 2, c: 4, d: 8, a: 16 };
const NONODE = -101;
/** Answers that say that this session is not served here: in a transaction they may come as the result of an operation. */
const NOT_SERVED: ReadonlySet<number> = new Set([-112, -118]);
const WATCHED: Readonly<Record<WatchKind, { readonly op: OpName; readonly record: RecordName; read(reply: unknown): Watched[WatchKind] }>> =
  {
    children: { op: "GET_CHILDREN2", record: "GetChildren2Request", read: () => null },
    list: { op: "GET_CHILDREN2", record: "GetChildren2Request", read: readChildren },
    data: { op: "GET_DATA", record: "GetDataRequest", read: readData },
    exists: { op: "EXISTS", record: "ExistsRequest", read: (reply) => readStat((reply as { stat: JuteStat }).stat) },
  };

/** Requests and replies, by the package's codec. Longs become bigint, a missing value an empty one. */
export class Codec {
  readonly #jute: Jute;
  readonly #chroot: string;
  readonly #acl: readonly JuteRecord[];

  constructor(jute: Jute, chroot: string, acl: readonly ZooKeeperAcl[]) {
    this.#jute = jute;
    this.#chroot = chroot;
    this.#acl = acl.map(({ permissions, scheme, id }) => {
      const bits = [...permissions].reduce((sum, letter) => sum | (PERMISSIONS[letter] ?? 0), 0);
      return new jute.data.ACL(bits, new jute.data.Id(scheme, id));
    });
  }

  create(path: string, data: Buffer, mode: CreateMode): Exchange<string> {
    const payload = this.#record("CreateRequest", path, data, this.#acl, MODES[mode]);
    return this.#exchange("CREATE", `create ${path}`, payload, (reply) => (reply as { path: string }).path);
  }

  delete(path: string, version: number): Exchange<void> {
    return this.#exchange("DELETE", `delete ${path}`, this.#record("DeleteRequest", path, version), () => undefined);
  }

  getData(path: string): Exchange<{ data: Buffer; stat: ZooKeeperStat }> {
    return this.#exchange("GET_DATA", `read ${path}`, this.#record("GetDataRequest", path, false), readData);
  }

  setData(path: string, data: Buffer, version: number): Exchange<ZooKeeperStat> {
    const payload = this.#record("SetDataRequest", path, data, version);
    return this.#exchange("SET_DATA", `write ${path}`, payload, (reply) => readStat((reply as { stat: JuteStat }).stat));
  }

  getChildren(path: string): Exchange<{ children: string[]; stat: ZooKeeperStat }> {
    return this.#exchange("GET_CHILDREN2", `list ${path}`, this.#record("GetChildren2Request", path, false), readChildren);
  }

  exists(path: string): Exchange<ZooKeeperStat | null> {
    const what = `look up ${path}`;
    const exchange = this.#exchange("EXISTS", what, this.#record("ExistsRequest", path, false), (reply) =>
      readStat((reply as { stat: JuteStat }).stat),
    );
    return { ...exchange, read: (error, payload, connection) => (error === NONODE ? null : exchange.read(error, payload, connection)) };
  }

  sync(path: string): Exchange<void> {
    // The package cannot decode this reply (and closes the connection over it). It repeats the path: nothing to read.
    const frame = this.#encode("SYNC", `sync ${path}`, this.#record("GetACLRequest", path));
    return { frame, replyType: this.#jute.OP_CODES.DELETE, read: (error) => refuse(error, `sync ${path}`) };
  }

  closeSession(): Exchange<void> {
    return this.#exchange("CLOSE_SESSION", "close the session", null, () => undefined);
  }

  /** Once the server has set it, the watch is registered with the connection. */
  watch<K extends WatchKind>(kind: K, path: string, watch: PendingWatch<Watched[K]>): Exchange<Watched[K]> {
    const { op, record } = WATCHED[kind];
    const what = `watch ${path}`;
    return {
      frame: this.#encode(op, what, this.#record(record, path, true)),
      replyType: this.#jute.OP_CODES[op],
      read: (error, payload, connection) => {
        if (!(kind === "exists" && error === NONODE)) refuse(error, what);
        watch.register(connection.watches, kind, path);
        return (error === 0 ? WATCHED[kind].read(payload) : null) as Watched[K];
      },
    };
  }

  multi(operations: readonly Operation[]): Exchange<(string | ZooKeeperStat | null)[]> {
    const what = `transaction of ${operations.length}`;
    const payload = new this.#jute.TransactionRequest(operations.map((operation) => this.#operation(operation)));
    return this.#exchange("MULTI", what, payload, (reply) => {
      const results = readResults(reply);
      const index = results.findIndex(({ err }) => err !== 0);
      refuse(results[index]?.err ?? 0, `${what}: ${operations[index]?.op} ${operations[index]?.path}`, index);
      return results.map(({ path, stat }) => path ?? (stat === undefined ? null : readStat(stat)));
    });
  }

  /** A transaction that only checks `path`. Whether the check fails makes no difference: the ensemble has committed the answer. */
  prove(path: string, gap: number): Exchange<Instant> {
    const what = "prove the session";
    const payload = new this.#jute.TransactionRequest([this.#operation({ op: "check", path, version: -1 })]);
    let vouchedAt: Instant;
    const exchange = this.#exchange("MULTI", what, payload, (reply) => {
      refuse(readResults(reply).find(({ err }) => NOT_SERVED.has(err))?.err ?? 0, what);
      return vouchedAt;
    });
    return { ...exchange, written: ({ proofs }, at) => void (vouchedAt = proofs.vouchedAt(at.mono, gap)) };
  }

  #operation(operation: Operation): JuteOperation {
    const { CREATE, DELETE, SET_DATA, CHECK } = this.#jute.OP_CODES;
    const { path } = operation;
    switch (operation.op) {
      case "create":
        return {
          type: CREATE,
          path,
          data: operation.data,
          acls: this.#acl.map((acl) => ({ toRecord: () => acl })),
          mode: MODES[operation.mode],
        };
      case "setData":
        return { type: SET_DATA, path, data: operation.data, version: operation.version };
      case "delete":
        return { type: DELETE, path, version: operation.version };
      case "check":
        return { type: CHECK, path, version: operation.version };
    }
  }

  #record(name: RecordName, ...fields: unknown[]): JuteRecord {
    return new this.#jute.protocol[name](...fields);
  }

  #exchange<T>(op: OpName, what: string, payload: JuteRecord | null, read: (reply: unknown) => T): Exchange<T> {
    return {
      frame: this.#encode(op, what, payload),
      replyType: this.#jute.OP_CODES[op],
      read: (error, reply) => {
        refuse(error, what);
        return read(reply);
      },
    };
  }

  #encode(op: OpName, what: string, payload: JuteRecord | null): Buffer {
    if (this.#chroot !== "") payload?.setChrootPath(this.#chroot);
    const header = new this.#jute.protocol.RequestHeader(0, this.#jute.OP_CODES[op]);
    const frame = new this.#jute.Request(header, payload).toBuffer();
    if (frame.length - 4 > LARGEST_REQUEST)
      throw new StoreError("too-large", `${what}: ${frame.length} bytes, more than a server takes by default`);
    return frame;
  }
}

interface JuteStat {
  readonly czxid: Buffer;
  readonly mzxid: Buffer;
  readonly ctime: Buffer;
  readonly mtime: Buffer;
  readonly version: number;
  readonly cversion: number;
  readonly ephemeralOwner: Buffer;
  readonly numChildren: number;
}

function readData(reply: unknown): { data: Buffer; stat: ZooKeeperStat } {
  const { data, stat } = reply as { data: Buffer | undefined; stat: JuteStat };
  return { data: data ?? Buffer.alloc(0), stat: readStat(stat) };
}

function readChildren(reply: unknown): { children: string[]; stat: ZooKeeperStat } {
  const { children, stat } = reply as { children: string[] | undefined; stat: JuteStat };
  return { children: children ?? [], stat: readStat(stat) };
}

function readStat(stat: JuteStat): ZooKeeperStat {
  return {
    czxid: stat.czxid.readBigInt64BE(),
    mzxid: stat.mzxid.readBigInt64BE(),
    ctime: Number(stat.ctime.readBigInt64BE()),
    mtime: Number(stat.mtime.readBigInt64BE()),
    version: stat.version,
    cversion: stat.cversion,
    ephemeralOwner: stat.ephemeralOwner.readBigInt64BE(),
    numChildren: stat.numChildren,
  };
}

interface OperationResult {
  readonly err: number;
  readonly path?: string;
  readonly stat?: JuteStat;
}

function readResults(reply: unknown): OperationResult[] {
  const { results } = reply as { results: (Partial<OperationResult> & { type: number })[] };
  return results.map((result) => ({ ...result, err: result.err ?? 0 }));
}

function refuse(error: number, what: string, index = 0): void {
  if (error === 0) return;
  const zk = zooKeeperCode(error);
  throw new ZooKeeperError(zk, `${what}: ${zk}`, { index });
}
