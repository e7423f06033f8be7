import type { Instant } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import type { Exchange } from "./zookeeper-client-call.js";
import { encodeAcl, type FrameReader, FrameWriter } from "./zookeeper-client-records.js";
import type { PendingWatch, WatchKind } from "./zookeeper-client-watches.js";
import { ZooKeeperError, zooKeeperCode } from "./zookeeper-error.js";
import type { CreateMode, Operation, Watched, ZooKeeperAcl, ZooKeeperStat } from "./zookeeper-wire.js";

/** What a server takes by default (jute.maxbuffer); it closes the connection on anything longer. */
const LARGEST_REQUEST = 0xfffff;
const MODES: Readonly<Record<CreateMode, number>> = { persistent: 0, ephemeral: 1, "ephemeral-sequential": 3 };
const NONODE = -101;
/** Answers that say that this session is not served here: in a transaction they may come as the result of an operation. */
const NOT_SERVED: ReadonlySet<number> = new Set([-112, -118]);

/** Source: ZooDefs.OpCode of ZooKeeper 3.9. */
const OP = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  sync: 9,
  getChildren2: 12,
  check: 13,
  multi: 14,
  closeSession: -11,
  error: -1,
} as const;
/** The type of a transaction's last header, and of a result that is an error. */
const NONE = -1;

interface Watching<T> {
  readonly op: number;
  read(reply: FrameReader): T;
}

const WATCHED: { readonly [K in WatchKind]: Watching<Watched[K]> } = {
  children: { op: OP.getChildren2, read: () => null },
  list: { op: OP.getChildren2, read: readChildren },
  data: { op: OP.getData, read: readData },
  exists: { op: OP.exists, read: readStat },
};

/** Requests and replies. Longs are bigint, a missing value is an empty one. */
export class Codec {
  readonly #chroot: string;
  readonly #acl: Buffer;

  constructor(chroot: string, acl: readonly ZooKeeperAcl[]) {
    this.#chroot = chroot;
    this.#acl = encodeAcl(acl);
  }

  create(path: string, data: Buffer, mode: CreateMode): Exchange<string> {
    const writer = begin(OP.create);
    this.#create(writer, path, data, mode);
    return exchange(writer, `create ${path}`, (reply) => withoutChroot(reply.string(), this.#chroot));
  }

  delete(path: string, version: number): Exchange<void> {
    return exchange(this.#about(OP.delete, path).int(version), `delete ${path}`, () => undefined);
  }

  getData(path: string): Exchange<{ data: Buffer; stat: ZooKeeperStat }> {
    return exchange(this.#about(OP.getData, path).bool(false), `read ${path}`, readData);
  }

  setData(path: string, data: Buffer, version: number): Exchange<ZooKeeperStat> {
    return exchange(this.#about(OP.setData, path).buffer(data).int(version), `write ${path}`, readStat);
  }

  getChildren(path: string): Exchange<{ children: string[]; stat: ZooKeeperStat }> {
    return exchange(this.#about(OP.getChildren2, path).bool(false), `list ${path}`, readChildren);
  }

  exists(path: string): Exchange<ZooKeeperStat | null> {
    const what = `look up ${path}`;
    const read = (error: number, reply: FrameReader): ZooKeeperStat | null => {
      if (error === NONODE) return null;
      refuse(error, what);
      return reply.stat();
    };
    return { frame: finished(this.#about(OP.exists, path).bool(false), what), read };
  }

  /** The reply repeats the path: nothing to read. */
  sync(path: string): Exchange<void> {
    return exchange(this.#about(OP.sync, path), `sync ${path}`, () => undefined);
  }

  closeSession(): Exchange<void> {
    return exchange(begin(OP.closeSession), "close the session", () => undefined);
  }

  /** Once the server has set it, the watch is registered with the connection. */
  watch<K extends WatchKind>(kind: K, path: string, watch: PendingWatch<Watched[K]>): Exchange<Watched[K]> {
    const what = `watch ${path}`;
    const { op, read }: Watching<Watched[K]> = WATCHED[kind];
    return {
      frame: finished(this.#about(op, path).bool(true), what),
      read: (error, reply, connection) => {
        if (!(kind === "exists" && error === NONODE)) refuse(error, what);
        watch.register(connection.watches, kind, path);
        return error === 0 ? read(reply) : (null as Watched[K]);
      },
    };
  }

  multi(operations: readonly Operation[]): Exchange<(string | ZooKeeperStat | null)[]> {
    const what = `transaction of ${operations.length}`;
    return exchange(this.#transaction(operations), what, (reply) => {
      const results = readResults(reply, this.#chroot);
      const index = results.findIndex(({ err }) => err !== 0);
      refuse(results[index]?.err ?? 0, `${what}: ${operations[index]?.op} ${operations[index]?.path}`, index);
      return results.map(({ value }) => value);
    });
  }

  /** A transaction that only checks `path`. Whether the check fails makes no difference: the ensemble has committed the answer. */
  prove(path: string, gap: number): Exchange<Instant> {
    const what = "prove the session";
    let vouchedAt: Instant;
    const proof = exchange(this.#transaction([{ op: "check", path, version: -1 }]), what, (reply) => {
      refuse(readResults(reply, this.#chroot).find(({ err }) => NOT_SERVED.has(err))?.err ?? 0, what);
      return vouchedAt;
    });
    return { ...proof, written: ({ proofs }, at) => void (vouchedAt = proofs.vouchedAt(at.mono, gap)) };
  }

  #transaction(operations: readonly Operation[]): FrameWriter {
    const writer = begin(OP.multi);
    for (const operation of operations) {
      const { op, path } = operation;
      writer.int(OP[op]).bool(false).int(NONE);
      if (op === "create") this.#create(writer, path, operation.data, operation.mode);
      else if (op === "setData") this.#path(writer, path).buffer(operation.data).int(operation.version);
      else this.#path(writer, path).int(operation.version);
    }
    return writer.int(NONE).bool(true).int(NONE);
  }

  #create(writer: FrameWriter, path: string, data: Buffer, mode: CreateMode): void {
    this.#path(writer, path).buffer(data).encoded(this.#acl).int(MODES[mode]);
  }

  #about(op: number, path: string): FrameWriter {
    return this.#path(begin(op), path);
  }

  #path(writer: FrameWriter, path: string): FrameWriter {
    return writer.string(this.#chroot === "" ? path : path === "/" ? this.#chroot : this.#chroot + path);
  }
}

/** A path as the client's user knows it. */
export function withoutChroot(path: string, chroot: string): string {
  if (path === chroot) return "/";
  return chroot !== "" && path.startsWith(`${chroot}/`) ? path.slice(chroot.length) : path;
}

/** The transaction id, which comes first, is put in when the frame is written. */
function begin(op: number): FrameWriter {
  return new FrameWriter().int(0).int(op);
}

function exchange<T>(writer: FrameWriter, what: string, read: (reply: FrameReader) => T): Exchange<T> {
  return {
    frame: finished(writer, what),
    read: (error, reply) => {
      refuse(error, what);
      return read(reply);
    },
  };
}

function finished(writer: FrameWriter, what: string): Buffer {
  const frame = writer.frame();
  if (frame.length - 4 > LARGEST_REQUEST)
    throw new StoreError("too-large", `${what}: ${frame.length} bytes, more than a server takes by default`);
  return frame;
}

function readData(reply: FrameReader): { data: Buffer; stat: ZooKeeperStat } {
  return { data: reply.buffer(), stat: reply.stat() };
}

function readChildren(reply: FrameReader): { children: string[]; stat: ZooKeeperStat } {
  return { children: reply.strings(), stat: reply.stat() };
}

function readStat(reply: FrameReader): ZooKeeperStat {
  return reply.stat();
}

interface OperationResult {
  readonly err: number;
  readonly value: string | ZooKeeperStat | null;
}

/** Each result has a header of its own: type, whether it is the last, which has no result, and an error that the result repeats. */
function readResults(reply: FrameReader, chroot: string): OperationResult[] {
  const results: OperationResult[] = [];
  for (;;) {
    const type = reply.int();
    const last = reply.bool();
    reply.int();
    if (last) return results;
    if (type === OP.error) results.push({ err: reply.int(), value: null });
    else if (type === OP.create) results.push({ err: 0, value: withoutChroot(reply.string(), chroot) });
    else if (type === OP.setData) results.push({ err: 0, value: reply.stat() });
    else results.push({ err: 0, value: null });
  }
}

function refuse(error: number, what: string, index = 0): void {
  if (error === 0) return;
  const zk = zooKeeperCode(error);
  throw new ZooKeeperError(zk, `${what}: ${zk}`, { index });
}
