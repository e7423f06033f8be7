import { ConfigError } from "../../src/errors.js";
import { readIdentity, TLS_KEYS, type TlsIdentity } from "../../src/tls.js";
import type { TlsSettings } from "./client/zookeeper-wire.js";

/** How to speak TLS. There is no way to accept a certificate that does not hold. */
export type ZooKeeperTls = TlsIdentity;

const KEYS: readonly string[] = TLS_KEYS;

/** Checks the option `tls`, and reads its files. Null: no TLS. Throws ConfigError; no message holds a secret. */
export function readTls(given: unknown): TlsSettings | null {
  if (given === undefined || given === false) return null;
  const { context, ca, servername, subject } = readIdentity(given === true ? {} : checkedKeys(given));
  return { context, servername, ownCa: ca !== null, subject };
}

function checkedKeys(given: unknown): ZooKeeperTls {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new ConfigError("tls", "expected true, or an object such as { ca, cert, key }");
  }
  for (const key of Object.keys(given)) {
    if (/^(rejectUnauthorized|checkServerIdentity)$/.test(key)) {
      throw new ConfigError(
        `tls.${key}`,
        "there is no such option: give the CA of the servers in tls.ca, or the name that they have in tls.servername",
      );
    }
    if (!KEYS.includes(key)) throw new ConfigError(`tls.${key}`, `unknown option; expected one of ${KEYS.join(", ")}`);
  }
  return given as ZooKeeperTls;
}
