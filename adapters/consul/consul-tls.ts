import { ConfigError } from "../../src/errors.js";
import { readIdentity, TLS_KEYS, type TlsIdentity } from "../../src/tls.js";
import type { TlsOptions } from "./client/consul-wire.js";
import type { Environment } from "./consul-env.js";

/**
 * How to speak TLS. Defaults: `CONSUL_CACERT` (`caFile`), `CONSUL_CLIENT_CERT` and `CONSUL_CLIENT_KEY` (`certFile` and `keyFile`, where
 * no part of our own certificate is given), `CONSUL_TLS_SERVER_NAME` (`servername`), `CONSUL_HTTP_SSL_VERIFY` (`verify`).
 */
export interface ConsulTls extends TlsIdentity {
  /** False: accept any certificate of the agent. Whoever is between us and it may then read the token. Default true. */
  verify?: boolean;
}

const KEYS: readonly string[] = [...TLS_KEYS, "verify"];

/** Whether the option `tls` asks for TLS; undefined: it is not given. Throws ConfigError. */
export function checkedTls(given: unknown): boolean | undefined {
  if (given === undefined || typeof given === "boolean") return given;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new ConfigError("tls", "expected true, false, or an object such as { caFile, certFile, keyFile }");
  }
  for (const key of Object.keys(given)) {
    if (!KEYS.includes(key)) throw new ConfigError(`tls.${key}`, `unknown option; expected one of ${KEYS.join(", ")}`);
  }
  const { verify } = given as { verify?: unknown };
  if (verify === undefined || typeof verify === "boolean") return true;
  throw new ConfigError("tls.verify", `expected true or false, got ${JSON.stringify(verify)}`);
}

/** Reads the files; `passphrase` is used for a key that is a file and has none. Throws ConfigError; no message holds a secret. */
export function readTls(given: boolean | ConsulTls | undefined, around: Environment, passphrase: string | null): TlsOptions {
  const { verify, ...rest } = typeof given === "object" ? given : ({} as ConsulTls);
  const tls: TlsIdentity = { ...rest };
  const fill = (key: "caFile" | "certFile" | "keyFile" | "servername") => {
    const value = around.use(`tls.${key}`, tls[key]);
    if (value !== undefined) tls[key] = value;
  };
  fill("servername");
  if (tls.ca === undefined) fill("caFile");
  if ([tls.cert, tls.certFile, tls.key, tls.keyFile].every((one) => one === undefined)) {
    fill("certFile");
    fill("keyFile");
  }
  if (passphrase !== null && tls.keyFile !== undefined && tls.passphrase === undefined) tls.passphrase = passphrase;
  const { ca, cert, key, passphrase: used, servername } = readIdentity(tls);
  const all = { ca, cert, key, passphrase: used, servername };
  const texts = Object.fromEntries(Object.entries(all).map(([name, text]) => [name, text ?? undefined]));
  return { ...(texts as Omit<TlsOptions, "verify">), verify: around.useSwitch("tls.verify", verify) ?? true };
}
