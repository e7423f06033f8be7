import { StoreError, type StoreErrorCode } from "../../../src/errors.js";

/** What a server can answer, by the names of KeeperException.Code. Source: ZooKeeper 3.9.5. */
const NUMBERS = {
  SYSTEMERROR: -1,
  RUNTIMEINCONSISTENCY: -2,
  DATAINCONSISTENCY: -3,
  CONNECTIONLOSS: -4,
  MARSHALLINGERROR: -5,
  UNIMPLEMENTED: -6,
  OPERATIONTIMEOUT: -7,
  BADARGUMENTS: -8,
  UNKNOWNSESSION: -12,
  NEWCONFIGNOQUORUM: -13,
  RECONFIGINPROGRESS: -14,
  APIERROR: -100,
  NONODE: -101,
  NOAUTH: -102,
  BADVERSION: -103,
  NOCHILDRENFOREPHEMERALS: -108,
  NODEEXISTS: -110,
  NOTEMPTY: -111,
  SESSIONEXPIRED: -112,
  INVALIDCALLBACK: -113,
  INVALIDACL: -114,
  AUTHFAILED: -115,
  SESSIONMOVED: -118,
  NOTREADONLY: -119,
  EPHEMERALONLOCALSESSION: -120,
  NOWATCHER: -121,
  REQUESTTIMEOUT: -122,
  RECONFIGDISABLED: -123,
  SESSIONCLOSEDREQUIRESASLAUTH: -124,
  QUOTAEXCEEDED: -125,
  THROTTLEDOP: -127,
} as const;

/** The name of an answer; `CODE_<number>` for one that a later server may invent. */
export type ZooKeeperCode = keyof typeof NUMBERS | `CODE_${number}`;

/** A refusal by the server. */
export class ZooKeeperError extends StoreError {
  readonly zk: ZooKeeperCode;
  /** Of a transaction: which operation failed (from 0); else 0. */
  readonly index: number;

  constructor(zk: ZooKeeperCode, message: string, options?: { cause?: unknown; index?: number }) {
    super(CODES[zk] ?? "rejected", message, options);
    this.zk = zk;
    this.index = options?.index ?? 0;
  }
}

const CODES: { readonly [zk in ZooKeeperCode]?: StoreErrorCode } = {
  CONNECTIONLOSS: "connection-lost",
  OPERATIONTIMEOUT: "timeout",
  SESSIONEXPIRED: "session-ended",
  SESSIONMOVED: "connection-lost",
  AUTHFAILED: "auth",
  NOAUTH: "auth",
  INVALIDACL: "auth",
  SESSIONCLOSEDREQUIRESASLAUTH: "auth",
  NOTREADONLY: "unsupported",
  UNIMPLEMENTED: "unsupported",
};

const NAMES = new Map(Object.entries(NUMBERS).map(([name, number]) => [number as number, name as ZooKeeperCode]));

/** The name of a number on the wire. */
export function zooKeeperCode(number: number): ZooKeeperCode {
  return NAMES.get(number) ?? `CODE_${number}`;
}

/** Whether `error` is the server's refusal `zk`. */
export function isZooKeeperError(error: unknown, zk: ZooKeeperCode): error is ZooKeeperError {
  return error instanceof ZooKeeperError && error.zk === zk;
}
