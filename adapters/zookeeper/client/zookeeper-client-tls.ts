import { isIP } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import type { TlsSettings } from "./zookeeper-wire.js";

/** Begins a TLS connection. A certificate that does not hold is never accepted, whatever the environment says. */
export function connectTls(host: string, port: number, tls: TlsSettings): TLSSocket {
  const options: ConnectionOptions = { host, port, secureContext: tls.context, rejectUnauthorized: true };
  // Without a name, the certificate must hold for `host`, be it a name or an address.
  const servername = tls.servername ?? (isIP(host) === 0 ? host : undefined);
  const socket = connect(servername === undefined ? options : { ...options, servername });
  // The option of this name is for plain sockets only.
  return socket.setNoDelay(true);
}

/** Why TLS does not come about, for people; null when the error is none of TLS. */
export interface TlsFault {
  readonly reason: string;
  /** One side does not accept the other's certificate: trying again does not cure it. */
  readonly certificate: boolean;
}

/** Reads an error of a TLS socket. Source: OpenSSL's verification results, and the alerts of RFC 8446, as Node names them. */
export function tlsFault(error: NodeJS.ErrnoException, tls: TlsSettings): TlsFault | null {
  const { code = "" } = error;
  const theirs = refusalOfTheirs(error, tls);
  if (theirs !== null) return { reason: `${theirs} (${code})`, certificate: true };
  if (OUR_CERTIFICATE_REFUSED.test(code)) {
    const advice =
      tls.subject !== null
        ? "the server refuses our certificate: give one in tls.cert that its trust store knows and that has not expired"
        : "the server demands a certificate of its clients: give one in tls.cert, with its key in tls.key";
    return { reason: `${advice} (${code})`, certificate: true };
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return { reason: `what answers there is not TLS: ${PORT}`, certificate: false };
  if (/^ERR_(SSL|OSSL|TLS)_/.test(code)) return { reason: `the TLS handshake failed (${code})`, certificate: false };
  return null;
}

const PORT = "give the server's secureClientPort, or leave out the option tls";

/** What a server that hangs up before it has answered may mean by it. */
export function hungUp(tls: TlsSettings | null, secured: boolean): string {
  if (tls === null) return "it serves nobody at present, or speaks TLS on this port (option tls)";
  if (!secured) return `it does not seem to speak TLS on this port: ${PORT}`;
  return "it serves nobody at present, or wants another certificate of us (tls.cert)";
}

const UNKNOWN_AUTHORITY = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "CERT_REJECTED",
]);
const OTHER_REFUSALS = new Set(["INVALID_CA", "INVALID_PURPOSE", "CERT_CHAIN_TOO_LONG", "PATH_LENGTH_EXCEEDED", "CERT_REVOKED"]);

const OUR_CERTIFICATE_REFUSED = /_ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED)$/;

/** Why we do not accept the server's certificate; null when it is not that. */
function refusalOfTheirs(error: NodeJS.ErrnoException, tls: TlsSettings): string | null {
  const { code = "" } = error;
  if (UNKNOWN_AUTHORITY.has(code)) {
    return tls.ownCa
      ? "its certificate is not signed by a CA that tls.ca holds"
      : "its certificate is not signed by a CA that Node.js knows: give the certificate of the CA in tls.ca";
  }
  if (code === "CERT_HAS_EXPIRED") return "its certificate, or that of a CA above it, has expired: it needs a new one";
  if (code === "CERT_NOT_YET_VALID") return "its certificate is not valid yet: compare the clocks of both machines";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const { host, cert } = error as { host?: string; cert?: { subjectaltname?: string; subject?: { CN?: string } } };
    const names = cert?.subjectaltname ?? `CN ${cert?.subject?.CN ?? "unknown"}`;
    return `its certificate is for ${names}, not for ${host}: address it by a name that it has, or give that in tls.servername`;
  }
  return OTHER_REFUSALS.has(code) ? "its certificate may not be used for this" : null;
}
