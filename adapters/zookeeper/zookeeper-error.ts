import { StoreError, type StoreErrorCode } from "../../src/errors.js";

/** A refusal by the server; `zk` is its name in the server's KeeperException.Code (NONODE, BADVERSION, …). */
export class ZooKeeperError extends StoreError {
  readonly zk: string;
  /** Of a transaction: which operation failed (from 0); else 0. */
  readonly index: number;

  constructor(zk: string, message: string, options?: { cause?: unknown; index?: number }) {
    super(CODES[zk] ?? "rejected", message, options);
    this.zk = zk;
    this.index = options?.index ?? 0;
  }
}

const CODES: Record<string, StoreErrorCode> = {
  CONNECTION_LOSS: "connection-lost",
  OPERATION_TIMEOUT: "timeout",
  SESSION_EXPIRED: "session-ended",
  SESSION_MOVED: "connection-lost",
  AUTH_FAILED: "auth",
  NO_AUTH: "auth",
  INVALID_ACL: "auth",
  NOT_READ_ONLY: "unsupported",
  UNIMPLEMENTED: "unsupported",
};

/** Whether `error` is the server's refusal `zk`. */
export function isZooKeeperError(error: unknown, zk: string): error is ZooKeeperError {
  return error instanceof ZooKeeperError && error.zk === zk;
}
