import { StoreError, type StoreErrorCode } from "../../../src/errors.js";
import { certificateFault } from "../../../src/tls-fault.js";
import type { PackageResponse } from "./consul-client-package.js";
import type { ClientOptions } from "./consul-wire.js";

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
/** Who answered with an error. */
export function responseOf(error: unknown): PackageResponse | null {
  const { response } = error as Problem;
  return response && typeof response.statusCode === "number" ? response : null;
}

/** What a call that got no answer came to. */
export function transportError(what: string, { address, tls }: ClientOptions, error: unknown): StoreError {
  const { code = "", message, isTimeout } = error as Problem;
  const told = (kind: StoreErrorCode, text: string, options: { transient?: boolean } = {}) =>
    new StoreError(kind, `${what}: ${text}`, { cause: error, ...options });
  if (isTimeout) return told("timeout", `no answer from ${address} (${message})`);
  if (UNREACHABLE.has(code)) return told("unreachable", `${address} cannot be reached (${message})`);
  const refused = certificateFault(error as NodeJS.ErrnoException, { ownCa: tls?.ca !== undefined, ownCert: tls?.cert !== undefined });
  if (refused !== null) return told("certificate", `${address}: ${refused}`);
  if (/^ERR_(SSL|OSSL|TLS)_|^EPROTO$/.test(code)) {
    // Whoever answers so is there, and will go on so.
    const port = /wrong version number/i.test(message ?? "")
      ? "what answers there is not TLS: give the agent's HTTPS port, or leave out TLS"
      : "";
    return told("unreachable", `${address}: ${port || "the TLS handshake failed"} (${code})`, { transient: port === "" });
  }
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
  if (statusCode === 400 && text.includes("HTTP request to an HTTPS server")) {
    return told("rejected", { transient: false }, ": the agent speaks TLS on this port (option tls)");
  }
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
