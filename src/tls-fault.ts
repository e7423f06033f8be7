/** What was given in the option `tls`. */
export interface Given {
  /** Whether other authorities are trusted than those that Node.js knows. */
  readonly ownCa: boolean;
  /** Whether there is a certificate of ours. */
  readonly ownCert: boolean;
}

/**
 * Says, for people, which certificate was not accepted and what to do; null when the error of a TLS socket is none of certificates. Source:
 * OpenSSL's verification results, and the alerts of RFC 8446, as Node names them.
 */
export function certificateFault(error: NodeJS.ErrnoException, { ownCa, ownCert }: Given): string | null {
  const { code = "" } = error;
  const theirs = refusalOfTheirs(error, ownCa);
  if (theirs !== null) return `${theirs} (${code})`;
  if (!OUR_CERTIFICATE_REFUSED.test(code)) return null;
  const advice = ownCert
    ? "the server refuses our certificate: give one in tls.cert that its trust store knows and that has not expired"
    : "the server demands a certificate of its clients: give one in tls.cert, with its key in tls.key";
  return `${advice} (${code})`;
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
function refusalOfTheirs(error: NodeJS.ErrnoException, ownCa: boolean): string | null {
  const { code = "" } = error;
  if (UNKNOWN_AUTHORITY.has(code)) {
    return ownCa
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
