import { StoreError } from "../../../src/errors.js";

/*
 * What we use of node-zookeeper-client 1.1.3: its ConnectionManager (handshake, credentials, transaction ids, the queues of
 * requests to send and to be answered, back pressure). Not its Client and Transaction, which repeat creates, cannot sync, and send
 * version 0 as "any"; not its connecting and reconnecting, its watches, pings and closing (zookeeper-client-link.ts says why); nor,
 * but for the handshake, its codec: that takes four times as long as zookeeper-client-records.ts, and throws on errors it does not know.
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
  zxid: Buffer;
  sessionId: Buffer;
  sessionPassword: Buffer;
  /** As asked for, after the handshake as granted; ms. */
  readonly sessionTimeout: number;
  /** Requests sent whose replies have not come; pings and credentials are not among them. */
  readonly pendingQueue: { readonly length: number; shift(): { readonly request: ManagerRequest } | undefined };
  addAuthInfo(scheme: string, auth: Buffer): void;
  queue(request: ManagerRequest, callback: () => void): void;
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
}

export interface ManagerWatches {
  isEmpty(): boolean;
}

export interface ManagerRequest {
  readonly header: { xid: number; readonly type: number };
  readonly payload: null;
  toBuffer(): Buffer;
}

export interface JuteHeader {
  xid: number;
  readonly type: number;
}

/** Its codec, as far as pings need it. */
export interface Jute {
  readonly Request: new (header: JuteHeader, payload: null) => ManagerRequest;
  readonly OP_CODES: { readonly PING: number };
  readonly XID_PING: number;
  readonly protocol: { readonly RequestHeader: new (xid: number, type: number) => JuteHeader };
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
