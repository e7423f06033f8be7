import { StoreError } from "../../../src/errors.js";

/*
 * What we use of node-zookeeper-client 1.1.3: its ConnectionManager (handshake, transaction ids, matching of replies to
 * requests, chroot) and its codec. Not its Client and Transaction, which repeat creates, cannot sync, and send version 0
 * as "any"; not its connecting and reconnecting, its watches, pings and closing (zookeeper-client-link.ts says why).
 */
export interface NodeZooKeeperClient {
  readonly ConnectionManager: new (servers: string, options: ManagerOptions, onState: (state: number) => void) => ConnectionManager;
  readonly jute: Jute;
}

/** Lasts for one connection. */
export interface ConnectionManager {
  state: number;
  /** What it writes to. It sees nothing else of the socket. */
  socket: ManagerSocket;
  watcherManager: ManagerWatches;
  xid: number;
  /** What replies call a path begins with it; taken off. */
  chrootPath: string | undefined;
  zxid: Buffer;
  sessionId: Buffer;
  sessionPassword: Buffer;
  /** As asked for, after the handshake as granted; ms. */
  readonly sessionTimeout: number;
  /** Requests sent whose replies have not come; pings and credentials are not among them. */
  readonly pendingQueue: { readonly length: number };
  addAuthInfo(scheme: string, auth: Buffer): void;
  queue(request: ManagerRequest, callback: (error: unknown, response: { payload: unknown } | undefined) => void): void;
  onSocketConnected(): void;
  onSocketData(frame: Buffer): void;
  onSocketDrain(): void;
}

export interface ManagerOptions {
  readonly sessionTimeout: number;
  readonly sessionId: Buffer;
  readonly sessionPassword: Buffer;
  readonly spinDelay: number;
}

export interface ManagerSocket {
  write(bytes: Buffer): boolean;
  setTimeout(): void;
  destroy(): void;
}

export interface ManagerWatches {
  isEmpty(): boolean;
  emit(event: { readonly type: number; readonly path: string }): void;
}

export interface ManagerRequest {
  readonly header: { xid: number; readonly type: number };
  readonly payload: JuteRecord | null;
  toBuffer(): Buffer;
}

export interface JuteHeader extends JuteRecord {
  xid: number;
  readonly type: number;
}

export interface JuteRecord {
  setChrootPath(path: string): void;
  byteLength(): number;
}

/** The codec. Arguments of the constructors are the fields, in the order of the protocol. */
export interface Jute {
  readonly Request: new (header: JuteHeader, payload: JuteRecord | null) => ManagerRequest;
  readonly TransactionRequest: new (operations: readonly JuteOperation[]) => JuteRecord;
  readonly OP_CODES: Readonly<Record<OpName, number>>;
  readonly XID_PING: number;
  readonly protocol: Readonly<Record<RecordName, new (...fields: unknown[]) => JuteRecord>> & {
    readonly RequestHeader: new (xid: number, type: number) => JuteHeader;
  };
  readonly data: {
    readonly ACL: new (permissions: number, id: JuteRecord) => JuteRecord;
    readonly Id: new (scheme: string, id: string) => JuteRecord;
  };
}

export type OpName =
  | "CREATE"
  | "DELETE"
  | "EXISTS"
  | "GET_DATA"
  | "SET_DATA"
  | "SYNC"
  | "PING"
  | "GET_CHILDREN2"
  | "CHECK"
  | "MULTI"
  | "CLOSE_SESSION"
  | "ERROR";

export type RecordName =
  | "CreateRequest"
  | "DeleteRequest"
  | "ExistsRequest"
  | "GetDataRequest"
  | "SetDataRequest"
  | "GetChildren2Request"
  | "GetACLRequest";

/** One operation of a transaction; its numbers go out as they are. */
export interface JuteOperation {
  readonly type: number;
  readonly path: string;
  readonly data?: Buffer;
  readonly acls?: readonly { toRecord(): JuteRecord }[];
  readonly mode?: number;
  readonly version?: number;
}

/** States of a ConnectionManager. */
export const STATE = { CONNECTING: 1, CONNECTED: 2, SESSION_EXPIRED: -3 } as const;

let loaded: Promise<NodeZooKeeperClient> | undefined;

/** Loads the package, once. Throws a StoreError `unsupported` that names it if it is not there. */
export function loadNodeZooKeeperClient(): Promise<NodeZooKeeperClient> {
  return (loaded ??= load());
}

async function load(): Promise<NodeZooKeeperClient> {
  try {
    const [manager, jute] = await Promise.all([
      import("node-zookeeper-client/lib/ConnectionManager.js"),
      import("node-zookeeper-client/lib/jute/index.js"),
    ]);
    return { ConnectionManager: manager.default, jute: jute.default } as NodeZooKeeperClient;
  } catch (cause) {
    loaded = undefined;
    throw new StoreError("unsupported", "cannot load the package node-zookeeper-client; install version 1.1.3 of it", { cause });
  }
}
