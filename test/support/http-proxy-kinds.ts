import type { LoggedRequest } from "./http-proxy-log.js";

/**
 * - `write`: a transaction that may cost a raft entry
 * - `deletion`: one of `delete-cas` alone (letters that were read)
 * - `read`: one that only reads and checks (looks, sweeps); no raft entry
 * - `renewal`: of a session
 * - `woken`: a blocking query that was answered since something changed
 * - `waited`: one that was answered since its wait was over
 * - `waiting`: one that is not answered
 * - `failed`: one that was answered by an error
 * - `other`: anything else
 */
export type RequestKind = "write" | "deletion" | "read" | "renewal" | "woken" | "waited" | "waiting" | "failed" | "other";

/** Verbs that write nothing. */
const READS = /^(get|check)-|^get$/;

export function kindOf(request: LoggedRequest): RequestKind {
  const { method, path, query, operations, status, index } = request;
  if (path === "/v1/txn") {
    if (operations.every(({ verb }) => READS.test(verb))) return "read";
    return operations.every(({ verb }) => verb === "delete-cas") ? "deletion" : "write";
  }
  if (path.startsWith("/v1/session/renew/")) return "renewal";
  // Without an index, or with 0, it is answered at once.
  if (method !== "GET" || !Number(query.index)) return "other";
  if (status === null) return "waiting";
  // A key that is missing is answered by 404, by wait or by change.
  if (status !== 200 && status !== 404) return "failed";
  return index === Number(query.index) ? "waited" : "woken";
}

/** How many there are of each kind. */
export function countKinds(requests: readonly LoggedRequest[]): Record<RequestKind, number> {
  const counts = { write: 0, deletion: 0, read: 0, renewal: 0, woken: 0, waited: 0, waiting: 0, failed: 0, other: 0 };
  for (const request of requests) counts[kindOf(request)]++;
  return counts;
}
