import { StoreError, type StoreErrorCode } from "../../../src/errors.js";
import type { PackageResponse } from "./consul-client-package.js";

/** Errors of the package and of Node, as far as we look at them. */
interface Problem {
  readonly message?: string;
  readonly code?: string;
  readonly isTimeout?: boolean;
  readonly isResponse?: boolean;
  readonly response?: PackageResponse;
}

/** Nothing was sent. */
const UNREACHABLE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENOENT", "EACCES", "EHOSTDOWN"]);
/** What Node and OpenSSL say of certificates (node: tls, "X509 certificate error codes"). */
const CERTIFICATE =
  /^(ERR_TLS_|ERR_SSL_(TLSV1_ALERT|SSLV3_ALERT|TLSV13_ALERT)|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Who answered with an error. */
export function responseOf(error: unknown): PackageResponse | null {
  const { response } = error as Problem;
  return response && typeof response.statusCode === "number" ? response : null;
}

/** What a call that got no answer came to. */
export function transportError(what: string, address: string, error: unknown): StoreError {
  const { code, message, isTimeout } = error as Problem;
  const told = (kind: StoreErrorCode, text: string) => new StoreError(kind, `${what}: ${text}`, { cause: error });
  if (isTimeout) return told("timeout", `no answer from ${address} (${message})`);
  if (code !== undefined && UNREACHABLE.has(code)) return told("unreachable", `${address} cannot be reached (${message})`);
  if (code !== undefined && CERTIFICATE.test(code)) {
    return told("certificate", `${address}: by TLS one of the two sides does not accept the other's certificate (${message})`);
  }
  if (code === "EPROTO") return told("certificate", `${address} does not speak TLS as asked (${message})`);
  return told("connection-lost", `the connection to ${address} broke (${message})`);
}

/** What an answer other than 200 says. The body has it: the package replaces texts of more than 79 characters. `token`: whether one was sent. */
export function answerError(what: string, { statusCode, body }: PackageResponse, token: boolean): StoreError {
  const text = textOf(body) || `status ${statusCode}`;
  const told = (code: StoreErrorCode, options: { transient?: boolean } = {}, hint = "") =>
    new StoreError(code, `${what}: ${statusCode} ${text}${hint}`, options);
  if (statusCode === 403) return told("auth", {}, refusedToken(text, token));
  if (statusCode === 413) return told("too-large");
  if (/Invalid Session TTL/.test(text))
    return told("unsupported", {}, ": choose a ttl in this range, or lower the servers' session_ttl_min");
  // Such as 301 for a key with `//`: nothing that another try cures.
  if (statusCode < 429) return told("rejected", { transient: false });
  return told("rejected");
}

/** The server leaves out what the token may not see, instead of refusing to show it. */
export function filteredError(what: string, prefix: string): StoreError {
  return new StoreError("auth", `${what}: the token lacks the permission 'key:read' on all or some keys below "${prefix}"`);
}

/** What to do. Sources: acl/errors.go; without a token one is the anonymous token, which the server names by its id only. */
function refusedToken(text: string, token: boolean): string {
  if (!token) return ": no token is given (options token and tokenFile, CONSUL_HTTP_TOKEN)";
  return text.includes("ACL not found") ? ": the servers do not know this token" : "";
}

export function textOf(body: unknown): string {
  if (typeof body === "string") return body.trim();
  if (Buffer.isBuffer(body)) return body.toString().trim();
  return body === undefined ? "" : JSON.stringify(body);
}
