import type { SecureContext } from "node:tls";
import type { Clock, Ender, Instant } from "../../../src/clock.js";

/*
 * What the adapter needs of a ZooKeeper client. Types only: zookeeper-client.ts implements it on node-zookeeper-client
 * and is the only file that knows that package. One object is one ZooKeeper session, for life.
 *
 * Every request is one attempt. While there is no connection it waits for one, within its signal. It rejects with the
 * signal's reason when that aborts (and destroys the socket first if isTimeout(reason): the link is suspect and the next
 * server is tried), else with a ZooKeeperError. Requests made in one turn of the event loop go out in that order.
 */
export interface ZooKeeperClient {
  /** As `ephemeralOwner` shows it. */
  readonly sessionId: bigint;
  /** Milliseconds, as negotiated. */
  readonly timeout: number;
  /** Aborts (reason: StoreError `session-ended` or `auth`) when this session is over, for whatever reason. */
  readonly ended: AbortSignal;

  /** Resolves to the path that was made (with its sequence number). */
  create(path: string, data: Buffer, mode: CreateMode, signal: Ender): Promise<string>;
  delete(path: string, version: number, signal: Ender): Promise<void>;
  getData(path: string, signal: Ender): Promise<{ data: Buffer; stat: ZooKeeperStat }>;
  setData(path: string, data: Buffer, version: number, signal: Ender): Promise<ZooKeeperStat>;
  getChildren(path: string, signal: Ender): Promise<{ children: string[]; stat: ZooKeeperStat }>;
  exists(path: string, signal: Ender): Promise<ZooKeeperStat | null>;
  sync(path: string, signal: Ender): Promise<void>;
  /** All or nothing. A result per operation: the path for create, the stat for setData, null for the others. */
  multi(operations: readonly Operation[], signal: Ender): Promise<(string | ZooKeeperStat | null)[]>;
  /**
   * `multi[check(path)]`, whether or not the check fails: a write that only the ensemble leader can commit. Resolves to
   * the instant that it vouches for: the sending of the newest request on the same connection whose reply had arrived
   * `gap` ms before this was sent, at least that of the connection's handshake.
   */
  prove(path: string, gap: number, signal: Ender): Promise<Instant>;
  /**
   * Sets a watch. `armed` settles like a request, with what was read by it (NONODE: rejects, no watch is left). `fired` resolves, once, on any event,
   * on any disconnection and at the session's end; never rejects; is left for ever pending if `armed` rejects.
   * `release()` lets go of it (the server may still keep it; nothing is called).
   */
  watch<K extends keyof Watched>(kind: K, path: string, signal: Ender): Watch<Watched[K]>;

  /** Ends the session at the server, then destroys the connection; also works during a reconnect. */
  close(signal: Ender): Promise<void>;
  /** Destroys the connection at once, for good; not a byte more is sent. `ended` aborts. */
  destroy(): void;
}

/** What setting a watch reads. */
export interface Watched {
  readonly children: null;
  /** As `children`, for who wants to know them. */
  readonly list: { readonly children: string[]; readonly stat: ZooKeeperStat };
  readonly data: { readonly data: Buffer; readonly stat: ZooKeeperStat };
  readonly exists: ZooKeeperStat | null;
}

export interface Watch<T = unknown> {
  armed: Promise<T>;
  readonly fired: Promise<void>;
  release(): void;
}

export type CreateMode = "persistent" | "ephemeral" | "ephemeral-sequential";

export type Operation =
  | { readonly op: "create"; readonly path: string; readonly data: Buffer; readonly mode: CreateMode }
  | { readonly op: "delete"; readonly path: string; readonly version: number }
  | { readonly op: "setData"; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly op: "check"; readonly path: string; readonly version: number };

export interface ZooKeeperStat {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ctime: number;
  readonly mtime: number;
  readonly version: number;
  readonly cversion: number;
  readonly ephemeralOwner: bigint;
  readonly numChildren: number;
}

export interface ZooKeeperAcl {
  /** The permissions, as their letters: any of `cdrwa`. */
  readonly permissions: string;
  readonly scheme: string;
  readonly id: string;
}

/** How to speak TLS. */
export interface TlsSettings {
  /** Whom we trust, and our own certificate. */
  readonly context: SecureContext;
  /** Whether `context` trusts other authorities than those that Node.js knows. */
  readonly ownCa: boolean;
  /** Whose certificate of ours `context` has, as the scheme `x509` of ACLs has it; null: none. */
  readonly subject: string | null;
  /** The name that every server's certificate must hold for; null: the host that is dialled. */
  readonly servername: string | null;
}

export interface ClientOptions {
  /** `host:port`, at least one; IPv6 in brackets. */
  readonly servers: readonly string[];
  /** Empty, or a path that is put before every other one. */
  readonly chroot: string;
  /** Milliseconds, as asked for. */
  readonly sessionTimeout: number;
  /** For one server, from the connection attempt to the end of the handshake, ms. When reconnecting a third of the negotiated timeout at most. */
  readonly connectTimeout: number;
  /**
   * A connection that has not brought a byte for so long, with a request or ping outstanding, is destroyed, ms (no request is
   * given less than a third of the negotiated timeout for its answer, unless this is shorter). Null: 2/3 of the negotiated timeout.
   */
  readonly readTimeout: number | null;
  /** Null: plain TCP. */
  readonly tls: TlsSettings | null;
  readonly auth: readonly { readonly scheme: string; readonly credentials: string }[];
  /** For every node that is created. */
  readonly acl: readonly ZooKeeperAcl[];
}

/** Connects, opens a session; one attempt over all servers, ended by the signal. */
export type ConnectZooKeeper = (options: ClientOptions, clock: Clock, signal: Ender) => Promise<ZooKeeperClient>;
