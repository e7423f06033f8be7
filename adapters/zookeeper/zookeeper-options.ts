import { type Duration, parseDuration } from "../../src/duration.js";
import { ConfigError } from "../../src/errors.js";
import type { ClientOptions, TlsSettings, ZooKeeperAcl } from "./client/zookeeper-wire.js";
import { OPEN_TO_ALL, readAcl } from "./zookeeper-acl.js";
import { pathFault } from "./zookeeper-paths.js";
import { readTls, type ZooKeeperTls } from "./zookeeper-tls.js";
import { readUrl } from "./zookeeper-url.js";

/** How to reach a ZooKeeper ensemble, and where in it the elections lie. */
export interface ZooKeeperOptions {
  /** `host` or `host:port` (2181), IPv6 in brackets; one text with commas, or a list. */
  servers: string | readonly string[];
  /** A path that is put before every other one; made when it is missing. Default: none. */
  chroot?: string;
  /** Below it lies one node for each election. Default `"/tenure"`. Never a path that Curator or kazoo uses. */
  root?: string;
  /** How long the ensemble keeps a silent session; it may grant another one (2 to 20 ticks). Default 15 s. */
  sessionTimeout?: Duration;
  /** The `tickTime` of the servers; makes deadlines later by up to ttl/4 − tickTime/2. Too small a value is unsafe. Default: not known. */
  tickTime?: Duration;
  /** For one server, up to the end of the handshake. Default 5 s. */
  connectTimeout?: Duration;
  /** A connection on which an answer is due and that brings nothing for so long is given up. Default: 2/3 of the granted session timeout. */
  readTimeout?: Duration;
  /** Who we are: `"user:password"` for the scheme `digest`, or any scheme by name. Default: nobody in particular. */
  auth?: string | ZooKeeperAuth | readonly ZooKeeperAuth[];
  /** Speak TLS: true, or whom to trust and who we are. The servers' port is their `secureClientPort`. Default: false. */
  tls?: boolean | ZooKeeperTls;
  /**
   * Who may do what with the nodes that we make: a list, or a text as zkCli.sh takes it (`"digest:ann:<hash>:cdrw,world:anyone:r"`), or
   * `"creator"`: everything for our own identities, nothing for others. Default: everybody everything.
   */
  acl?: string | readonly ZooKeeperAcl[];
}

/** Credentials, as `addauth` takes them. */
export interface ZooKeeperAuth {
  readonly scheme: string;
  readonly credentials: string;
}

/** Checked options. */
export interface Settings {
  /** Without a chroot: every path that we send has it already, so that a missing one can be made. */
  readonly client: ClientOptions;
  readonly chroot: string;
  /** Chroot and root; empty when both are the top of the tree. */
  readonly base: string;
  /** Milliseconds; null: not known. */
  readonly tickTime: number | null;
  /** For people; without secrets. */
  readonly name: string;
  readonly identity: Identity;
}

/** Who we are to the servers. */
export interface Identity {
  /** For people; without secrets. */
  readonly name: string;
  /** What to do when it may not do something. */
  readonly advice: string;
  /** Whether access is guarded here: then a candidate makes sure that it may leave before it joins. */
  readonly guarded: boolean;
}

const LONGEST = 2 ** 31 - 1;
const DEFAULTS = { root: "/tenure", sessionTimeout: 15_000, connectTimeout: 5000 };
const KEYS = ["servers", "chroot", "root", "sessionTimeout", "tickTime", "connectTimeout", "readTimeout", "auth", "tls", "acl"];

/** Checks everything once. Throws {@link ConfigError}; no message holds a secret. */
export function readOptions(given: string | ZooKeeperOptions): Settings {
  const options: ZooKeeperOptions = typeof given === "string" ? readUrl(given) : checkedKeys(given);
  const servers = readServers(options.servers);
  const chroot = readPath("chroot", options.chroot ?? "/");
  const root = readPath("root", options.root ?? DEFAULTS.root);
  const auth = readAuth(options.auth);
  const acl = readAcl(options.acl);
  const tls = readTls(options.tls);
  if (auth.length === 0 && !tls?.subject && acl.some(({ scheme }) => scheme === "auth")) {
    throw new ConfigError("acl", 'the scheme "auth" means whoever we are: it needs the option auth, or tls with a certificate of ours');
  }
  return {
    chroot,
    base: chroot + root,
    tickTime: options.tickTime === undefined ? null : readTime("tickTime", options.tickTime),
    name: `zookeeper://${servers.join(",")}${chroot}${root}`,
    identity: identityOf(auth, tls, acl !== OPEN_TO_ALL),
    client: {
      servers,
      chroot: "",
      sessionTimeout: readTime("sessionTimeout", options.sessionTimeout ?? DEFAULTS.sessionTimeout),
      connectTimeout: readTime("connectTimeout", options.connectTimeout ?? DEFAULTS.connectTimeout),
      readTimeout: options.readTimeout === undefined ? null : readTime("readTimeout", options.readTimeout),
      tls,
      auth,
      acl,
    },
  };
}

function checkedKeys(options: unknown): ZooKeeperOptions {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ConfigError("store", "expected a store URL, a list of hosts, or an options object");
  }
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key)) throw new ConfigError(key, `unknown option; expected one of ${KEYS.join(", ")}`);
  }
  return options as ZooKeeperOptions;
}

function readServers(servers: unknown): string[] {
  const list: unknown = typeof servers === "string" ? servers.split(",").map((server) => server.trim()) : servers;
  if (!Array.isArray(list) || list.length === 0) throw new ConfigError("servers", "expected host:port, at least one");
  return list.map(readServer);
}

function readServer(server: unknown): string {
  if (typeof server === "string" && server.includes("@"))
    throw new ConfigError("servers", "expected host:port; credentials belong in the option auth");
  const [, host, port = "2181"] =
    typeof server === "string" ? (/^(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(server) ?? []) : [];
  if (host === undefined) throw new ConfigError("servers", `expected host:port (IPv6 in brackets), got ${JSON.stringify(server)}`);
  if (Number(port) < 1 || Number(port) > 65_535)
    throw new ConfigError("servers", `expected a port from 1 to 65535, got ${JSON.stringify(server)}`);
  return `${host}:${Number(port)}`;
}

/** Empty for the top of the tree, so that paths can be joined. */
function readPath(option: string, path: unknown): string {
  const fault = typeof path === "string" ? pathFault(path) : "must be a text";
  if (fault !== null) throw new ConfigError(option, `${fault}, got ${JSON.stringify(path)}`);
  return path === "/" ? "" : (path as string);
}

function readTime(option: string, value: unknown): number {
  const ms = Math.round(parseDuration(option, value));
  if (ms < 1 || ms > LONGEST) throw new ConfigError(option, `expected 1 to ${LONGEST} ms, got ${String(value)}`);
  return ms;
}

function readAuth(auth: unknown): ZooKeeperAuth[] {
  if (auth === undefined) return [];
  const list: unknown[] = Array.isArray(auth) ? auth : [auth];
  return list.map((one) => {
    const given: Partial<ZooKeeperAuth> =
      typeof one === "string" ? { scheme: "digest", credentials: one } : ((one ?? {}) as Partial<ZooKeeperAuth>);
    const { scheme, credentials } = given;
    if (typeof scheme !== "string" || scheme === "" || typeof credentials !== "string") {
      throw new ConfigError("auth", 'expected "user:password", or { scheme, credentials }');
    }
    if (scheme === "digest" && !/^[^:]+:/.test(credentials)) throw new ConfigError("auth", "expected user:password for the scheme digest");
    return { scheme, credentials };
  });
}

/**
 * Of the scheme digest the user, of others the scheme only: what their credentials look like is not known. The server takes
 * any password: who gives a wrong one is somebody else to it. So that is what to look for first.
 */
function identityOf(auth: readonly ZooKeeperAuth[], tls: TlsSettings | null, acl: boolean): Identity {
  const names = auth.map(({ scheme, credentials }) => (scheme === "digest" ? `digest:${credentials.replace(/:.*/s, "")}` : scheme));
  if (tls?.subject) names.push(`x509:${tls.subject}`);
  if (names.length === 0) {
    return {
      name: "a client without credentials (no auth is given)",
      advice: "give credentials, or have that permission given",
      guarded: acl,
    };
  }
  const advice = auth.length > 0 ? "check the password, or have that permission given" : "have that permission given";
  return { name: names.join(", "), advice, guarded: true };
}
