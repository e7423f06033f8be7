import type { LoggedOperation, LoggedRequest } from "../../support/http-proxy-log.js";
import type { Match } from "../../support/http-proxy-rules.js";

/** The transactions of the protocol (DESIGN section 6), as a proxy sees them. */

const has = ({ operations }: LoggedRequest, verb: string, key: RegExp) =>
  operations.some((operation: LoggedOperation) => operation.verb === verb && key.test(operation.key));
const TERM = /\/term$/;
const LEADER = /\/leader$/;
const QUEUE = /\/queue\//;
const LETTER = /\/_mail\/[^/]+\/(?!_$)/;
const EPOCH = /\/_mail\/[^/]+\/_$/;
const SESSION = /\/_session\//;

export const join: Match = { verb: "lock", key: QUEUE };
export const claim: Match = { where: (request) => has(request, "lock", LEADER) && !has(request, "unlock", LEADER) };
export const handOver: Match = { where: (request) => has(request, "unlock", LEADER) && has(request, "cas", TERM) };
/** The seat is freed, and the queue read. */
export const free: Match = { where: (request) => has(request, "unlock", LEADER) && has(request, "get-tree", QUEUE) };
/** Of a waiter. */
export const withdrawal: Match = { where: (request) => has(request, "delete", QUEUE) && has(request, "get-tree", QUEUE) };
/** By itself, not with a hand-over. */
export const letter: Match = { where: (request) => has(request, "lock", LETTER) && !has(request, "unlock", LEADER) };
export const epoch: Match = { where: (request) => has(request, "lock", EPOCH) && !has(request, "lock", SESSION) };
export const deletion: Match = { verb: "delete-cas" };
export const create: Match = { path: "/v1/session/create" };
/** The two keys of a session. */
export const sessionKeys: Match = { verb: "lock", key: SESSION };
/** A look that does not join. */
export const look: Match = {
  where: (request) => has(request, "get-tree", QUEUE) && request.operations.every(({ verb }) => verb.startsWith("get")),
};
/** The query on one's own mailbox. */
export const mail: Match = { method: "GET", path: /^\/v1\/kv\/.*\/_mail\// };
