import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { ConfigError } from "./errors.js";

/**
 * Whom to trust and who we are, for stores that speak TLS. What is PEM is a text or a Buffer; in its place a file can be named,
 * which is read once, when the store is made.
 */
export interface TlsIdentity {
  /** Who may have signed the servers' certificates: one or more certificates, PEM. Default: the authorities that Node.js knows. */
  ca?: string | Uint8Array | readonly (string | Uint8Array)[];
  caFile?: string;
  /** Our own certificate, and those between it and its CA, PEM. Needed when the servers demand one. */
  cert?: string | Uint8Array;
  certFile?: string;
  /** The private key of our certificate, PEM. */
  key?: string | Uint8Array;
  keyFile?: string;
  /** Of the key, when it is encrypted. */
  passphrase?: string;
  /** The name that every server's certificate must hold for, also sent to the server (SNI). Default: the host that is dialled. */
  servername?: string;
}

/** A {@link TlsIdentity} that has been read and checked. Null: not given. */
export interface TlsMaterial {
  /** Of all the following. */
  readonly context: SecureContext;
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  readonly passphrase: string | null;
  readonly servername: string | null;
  /** Whose certificate `cert` is, as RFC 2253 has it (its last part first). */
  readonly subject: string | null;
}

/** The members of {@link TlsIdentity}. */
export const TLS_KEYS = ["ca", "caFile", "cert", "certFile", "key", "keyFile", "passphrase", "servername"] as const;

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Checks the option `tls`, and reads its files. Throws ConfigError; no message holds a secret. */
export function readIdentity(tls: TlsIdentity): TlsMaterial {
  const [ca, cert, key] = [pemOf(tls, "ca"), pemOf(tls, "cert"), pemOf(tls, "key")];
  const servername = readServername(tls.servername);
  if (ca !== null) certificates(ca);
  if (key !== null && cert === null) throw new ConfigError(key.option, "needs the certificate as well: give tls.cert or tls.certFile");
  if (cert !== null && key === null) throw new ConfigError(cert.option, "needs its private key as well: give tls.key or tls.keyFile");
  if (tls.passphrase !== undefined && key === null) throw new ConfigError("tls.passphrase", "is for the key, but there is none");
  const subject = cert !== null && key !== null ? subjectOf(cert, key, privateKey(key, tls.passphrase)) : null;
  try {
    const context = createSecureContext({
      ...(ca && { ca: ca.text }),
      ...(cert && key && { cert: cert.text, key: key.text, ...(tls.passphrase !== undefined && { passphrase: tls.passphrase }) }),
    });
    const texts = { ca: ca?.text ?? null, cert: cert?.text ?? null, key: key?.text ?? null };
    return { context, ...texts, passphrase: tls.passphrase ?? null, servername, subject };
  } catch (cause) {
    throw new ConfigError("tls", `cannot be used: ${codeOf(cause)}`, { cause });
  }
}

/** A PEM text, and the option that it came from. */
interface Pem {
  readonly option: string;
  readonly text: string;
}

function pemOf(tls: TlsIdentity, what: "ca" | "cert" | "key"): Pem | null {
  const [given, file] = [tls[what], tls[`${what}File`]] as [unknown, unknown];
  if (given !== undefined && file !== undefined) throw new ConfigError(`tls.${what}`, `give either this or tls.${what}File`);
  if (file !== undefined) return { option: `tls.${what}File`, text: contents(`tls.${what}File`, file) };
  if (given === undefined) return null;
  const list: unknown[] = what === "ca" && Array.isArray(given) ? given : [given];
  return { option: `tls.${what}`, text: list.map((one) => pemText(`tls.${what}`, one)).join("\n") };
}

function pemText(option: string, given: unknown): string {
  const text = given instanceof Uint8Array ? Buffer.from(given).toString("latin1") : given;
  if (typeof text !== "string") throw new ConfigError(option, "expected PEM, as a text or a Buffer");
  if (!text.includes("-----BEGIN ")) {
    throw new ConfigError(option, `expected PEM ("-----BEGIN …"); to name a file use ${option}File`);
  }
  return text;
}

function contents(option: string, file: unknown): string {
  if (typeof file !== "string" || file === "") throw new ConfigError(option, "expected the name of a PEM file");
  try {
    return readFileSync(file, "latin1");
  } catch (cause) {
    throw new ConfigError(option, `cannot read ${JSON.stringify(file)} (${codeOf(cause)}): name a readable PEM file`, { cause });
  }
}

/** Node.js itself would pass over what it cannot read, and trust fewer than was meant. */
function certificates({ option, text }: Pem): X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new ConfigError(option, 'expected PEM with at least one "-----BEGIN CERTIFICATE-----", and there is none');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new ConfigError(option, `certificate ${index + 1} of ${blocks.length} in it cannot be read (${codeOf(cause)})`, { cause });
    }
  });
}

function privateKey({ option, text }: Pem, passphrase: unknown): KeyObject {
  if (passphrase !== undefined && typeof passphrase !== "string") throw new ConfigError("tls.passphrase", "expected a text");
  if (passphrase === undefined && ENCRYPTED.test(text)) {
    throw new ConfigError("tls.passphrase", `is missing: the key of ${option} is encrypted`);
  }
  try {
    return createPrivateKey(passphrase === undefined ? text : { key: text, passphrase });
  } catch (cause) {
    // With a wrong one, what is decrypted is noise: it may also fail to be a key.
    const advice = passphrase === undefined ? "expected a private key, PEM" : "is the passphrase the right one?";
    throw new ConfigError(option, `the private key cannot be read (${codeOf(cause)}): ${advice}`, { cause });
  }
}

/** As servers name it (RFC 2253): the last part of it first. */
function subjectOf(cert: Pem, key: Pem, privateKey: KeyObject): string {
  const [ours] = certificates(cert);
  if (!ours?.checkPrivateKey(privateKey)) {
    throw new ConfigError(key.option, `is not the key of the first certificate in ${cert.option}`);
  }
  // A certificate may have other names only (SPIFFE), whatever the types say.
  const subject: string | undefined = ours.subject;
  return subject?.split("\n").reverse().join(",") ?? "";
}

function readServername(servername: unknown): string | null {
  if (servername === undefined) return null;
  if (typeof servername !== "string" || !/^[A-Za-z0-9._-]+$/.test(servername) || isIP(servername) !== 0) {
    throw new ConfigError("tls.servername", `expected a host name, got ${JSON.stringify(servername)}`);
  }
  return servername;
}

function codeOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  return code ?? message;
}
