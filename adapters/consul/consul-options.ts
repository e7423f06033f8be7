import { type Duration, formatDuration, parseDuration } from "../../src/duration.js";
import { ConfigError } from "../../src/errors.js";
import type { ClientOptions } from "./client/consul-wire.js";
import { readAddress } from "./consul-address.js";
import { fromEnvironment } from "./consul-env.js";
import { type ConsulTls, checkedTls, readTls } from "./consul-tls.js";
import { readToken } from "./consul-token.js";
import { readUrl } from "./consul-url.js";

/** How to reach Consul, and where in it the elections lie. */
export interface ConsulOptions {
  /**
   * Of the agent: `host`, `host:port` (8500; with TLS 8501), `http://host:port`, `https://host:port` or `unix:///path`.
   * Default: `CONSUL_HTTP_ADDR`, else `127.0.0.1:8500`.
   */
  address?: string;
  /** Of the ACL system. Default: `CONSUL_HTTP_TOKEN`, else none. */
  token?: string;
  /** A file that holds the token; read once, when the store is made. Default: `CONSUL_HTTP_TOKEN_FILE`, else none. */
  tokenFile?: string;
  /** Default: the agent's own. */
  datacenter?: string;
  /** Consul Enterprise. Default: `CONSUL_NAMESPACE`, else the token's. */
  namespace?: string;
  /** Consul Enterprise. Default: `CONSUL_PARTITION`, else the agent's. */
  partition?: string;
  /** Before all keys: segments of `A-Z a-z 0-9 . _ -` with `/` between them, none that begins with `_`. Default `"tenure"`. */
  prefix?: string;
  /** Of the session, from 1 s (and not below the servers' `session_ttl_min`, default 10 s) to 24 h. Default 15 s. */
  ttl?: Duration;
  /** How long the seat of a session that ended is refused to everybody, up to 60 s; 0: not at all. Default 1 s. */
  lockDelay?: Duration;
  /** Ids of health checks on the session's node: it ends as soon as one of them is critical. Default: none. */
  checks?: readonly string[];
  /** A node of this name in the catalog, made when it is missing, carries the session in place of the agent's. Default: the agent's. */
  node?: string;
  /** Longest wait for an answer to anything but a blocking query. Default 10 s. */
  requestTimeout?: Duration;
  /** Speak TLS: true, or whom to trust and who we are. Default: as `address` says, else `CONSUL_HTTP_SSL`, else false. */
  tls?: boolean | ConsulTls;
}

/** Checked options. */
export interface Settings {
  /** For people; without secrets. */
  readonly name: string;
  readonly prefix: string;
  /** ms */
  readonly ttl: number;
  /** ms */
  readonly lockDelay: number;
  readonly checks: readonly string[];
  /** Null: the agent's own. */
  readonly node: string | null;
  readonly client: ClientOptions;
}

/** What stands in for options that are not given. */
export interface Surroundings {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Of our key, if that is a file; null: it has none. */
  readonly passphrase: string | null;
}

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DEFAULTS = { prefix: "tenure", ttl: 15 * SECOND, lockDelay: SECOND, requestTimeout: 10 * SECOND };
/** Of the servers: agent/session_endpoint.go (ttl; their `session_ttl_min` may be more), agent/structs (MaxLockDelay). */
const LIMITS = { ttl: [SECOND, 24 * HOUR], lockDelay: [0, 60 * SECOND], requestTimeout: [1, 24 * HOUR] } as const;
/** The members of {@link ConsulOptions}. */
export const KEYS: readonly string[] = [
  ...["address", "token", "tokenFile", "datacenter", "namespace", "partition", "prefix", "ttl", "lockDelay"],
  ...["checks", "node", "requestTimeout", "tls"],
];
const NAME = { pattern: /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, expected: "1 to 64 of A-Z a-z 0-9 _ -" };
/** Also of hosts. */
const NODE = { pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, expected: "1 to 128 of A-Z a-z 0-9 . _ -" };

/** Checks everything once. Throws {@link ConfigError}; no message holds a secret. */
export function readOptions(given: string | ConsulOptions, { env, passphrase }: Surroundings): Settings {
  const options: ConsulOptions = typeof given === "string" ? readUrl(given) : checkedKeys(given);
  const around = fromEnvironment(env);
  return around.naming(() => {
    const where = readAddress(options.address, checkedTls(options.tls), around);
    const prefix = readPrefix(options.prefix === undefined ? DEFAULTS.prefix : options.prefix);
    return {
      name: where.socket
        ? `consul:///${prefix}?address=${where.address}`
        : `consul://${where.address.replace(/^https?:\/\//, "")}/${prefix}`,
      prefix,
      ttl: readTime("ttl", options.ttl),
      lockDelay: readTime("lockDelay", options.lockDelay),
      checks: readChecks(options.checks),
      node: readName("node", options.node, NODE),
      client: {
        address: where.address,
        token: readToken(options, around),
        datacenter: readName("datacenter", options.datacenter, NAME),
        namespace: readName("namespace", around.use("namespace", options.namespace), NAME),
        partition: readName("partition", around.use("partition", options.partition), NAME),
        tls: where.secure ? readTls(options.tls, around, passphrase) : null,
        requestTimeout: readTime("requestTimeout", options.requestTimeout),
      },
    };
  });
}

function checkedKeys(options: unknown): ConsulOptions {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ConfigError("store", "expected a store URL, host:port/prefix, or an options object");
  }
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key)) throw new ConfigError(key, `unknown option; expected one of ${KEYS.join(", ")}`);
  }
  return options as ConsulOptions;
}

/** Consul cleans `.`, `..` and `//` out of a path; what begins with `_` is ours, beside the elections. */
function readPrefix(prefix: unknown): string {
  const sound =
    typeof prefix === "string" && prefix.length <= 256 && prefix.split("/").every((part) => /^(?!\.{1,2}$|_)[\w.-]+$/.test(part));
  if (sound) return prefix;
  const expected = "segments of A-Z a-z 0-9 . _ - with a / between them, none of them . or .. or with a leading _, at most 256 characters";
  throw new ConfigError("prefix", `expected ${expected}, got ${JSON.stringify(prefix)}`);
}

function readTime(option: keyof typeof LIMITS, value: unknown): number {
  const [least, most] = LIMITS[option];
  const ms = Math.round(parseDuration(option, value === undefined ? DEFAULTS[option] : value));
  if (ms >= least && ms <= most) return ms;
  const expected = `${least === 0 ? 0 : formatDuration(least)} to ${formatDuration(most)}`;
  throw new ConfigError(option, `expected ${expected}, got ${typeof value === "number" ? `${value} ms` : JSON.stringify(value)}`);
}

function readName(option: string, name: unknown, { pattern, expected }: typeof NAME): string | null {
  if (name === undefined) return null;
  if (typeof name === "string" && pattern.test(name)) return name;
  throw new ConfigError(option, `expected ${expected}, got ${JSON.stringify(name)}`);
}

function readChecks(checks: unknown): readonly string[] {
  if (checks === undefined) return [];
  if (Array.isArray(checks) && checks.every((id) => typeof id === "string" && id !== "")) return [...new Set<string>(checks)];
  throw new ConfigError("checks", `expected a list of ids of health checks, such as ["serfHealth"], got ${JSON.stringify(checks)}`);
}
