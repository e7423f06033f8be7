import { readFileSync } from "node:fs";
import { ConfigError } from "../errors.js";

/** Who we are to the store. */
export interface Credentials {
  readonly scheme: string;
  readonly credentials: string;
}

/** What a user need not write into the URL. */
export interface Secrets {
  readonly credentials: Credentials | null;
  /** Of the private key that the URL names. */
  readonly passphrase: string | null;
}

/** Where credentials may come from; the first that is there counts. */
export interface CredentialSources {
  /** `--auth-file` */
  readonly file: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Reads `scheme:credentials` (`digest:user:password`, `token:…`) from `--auth-file`, `TENURE_AUTH` or the file that `TENURE_AUTH_FILE`
 * names. Null: there are none. Throws a {@link ConfigError} that shows no secret.
 */
export function readCredentials({ file, env }: CredentialSources): Credentials | null {
  if (file !== undefined) return parse("--auth-file", contents("--auth-file", file));
  if (env.TENURE_AUTH) return parse("TENURE_AUTH", env.TENURE_AUTH);
  if (env.TENURE_AUTH_FILE) return parse("TENURE_AUTH_FILE", contents("TENURE_AUTH_FILE", env.TENURE_AUTH_FILE));
  return null;
}

/**
 * Reads the passphrase of our TLS key from `TENURE_TLS_PASSPHRASE` or the file that `TENURE_TLS_PASSPHRASE_FILE` names. Null:
 * there is none. Throws a {@link ConfigError}.
 */
export function readPassphrase(env: NodeJS.ProcessEnv): string | null {
  if (env.TENURE_TLS_PASSPHRASE) return env.TENURE_TLS_PASSPHRASE;
  if (!env.TENURE_TLS_PASSPHRASE_FILE) return null;
  return contents("TENURE_TLS_PASSPHRASE_FILE", env.TENURE_TLS_PASSPHRASE_FILE, "the passphrase");
}

/** What must not appear in a log: the passwords and tokens of `credentials`, of a store URL and of Consul's variable, and the passphrase. */
export function secretsOf({ credentials, passphrase }: Secrets, url: string, env: NodeJS.ProcessEnv): string[] {
  const userinfo = /^[a-z][a-z0-9+.-]*:\/\/([^?]*)@/i.exec(url)?.[1] ?? "";
  // A store URL with a token is refused, but may be told of before that.
  const token = /[?&]token=([^&#]*)/.exec(url)?.[1] ?? "";
  const given = credentials?.credentials ?? "";
  const passwords = [userinfo, decoded(userinfo), ...(credentials?.scheme === "token" ? [] : [given])].map(passwordOf);
  const whole = [token, decoded(token), credentials?.scheme === "token" ? given : "", passphrase ?? "", env.CONSUL_HTTP_TOKEN ?? ""];
  return [...new Set([...passwords, ...whole])].filter((secret) => secret !== "");
}

function parse(option: string, text: string): Credentials {
  const [, scheme, credentials] = /^([A-Za-z0-9]+):(.+)$/s.exec(text) ?? [];
  if (scheme === undefined || credentials === undefined) {
    throw new ConfigError(option, "expected scheme:credentials, such as digest:user:password or token:…");
  }
  return { scheme, credentials };
}

function contents(option: string, file: string, what = "scheme:credentials"): string {
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new ConfigError(
      option,
      `cannot read ${JSON.stringify(file)} (${(error as NodeJS.ErrnoException).code}): name a readable file with ${what} in it`,
    );
  }
}

function passwordOf(userinfo: string): string {
  const at = userinfo.indexOf(":");
  return at < 0 ? userinfo : userinfo.slice(at + 1);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
