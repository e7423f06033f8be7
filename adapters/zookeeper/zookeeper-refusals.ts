import { type ZooKeeperCode, ZooKeeperError } from "./client/zookeeper-error.js";

/** Answers that say for sure that nothing was done. Every other failure is doubtful, which costs a look and never an entry. */
const REFUSALS: ReadonlySet<ZooKeeperCode> = new Set<ZooKeeperCode>([
  "NONODE",
  "NODEEXISTS",
  "BADVERSION",
  "BADARGUMENTS",
  "NOAUTH",
  "INVALIDACL",
  "NOCHILDRENFOREPHEMERALS",
  "NOTEMPTY",
  "NOTREADONLY",
  "UNIMPLEMENTED",
  "QUOTAEXCEEDED",
  "EPHEMERALONLOCALSESSION",
]);

/** Whether the server has surely not done what failed with `error`. */
export function isRefusal(error: unknown): error is ZooKeeperError {
  return error instanceof ZooKeeperError && REFUSALS.has(error.zk);
}
