import { type Duration, parseDurationText } from "../../src/duration.js";
import { ConfigError } from "../../src/errors.js";
import type { ZooKeeperTls } from "./zookeeper-tls.js";

/** What a URL or a host list says, before anything is checked but its form. */
export interface Spelled {
  servers: string[];
  chroot?: string;
  root?: string;
  sessionTimeout?: Duration;
  tickTime?: Duration;
  connectTimeout?: Duration;
  readTimeout?: Duration;
  tls?: boolean | ZooKeeperTls;
  auth?: { scheme: string; credentials: string }[];
  acl?: string;
}

const SCHEME = "zookeeper://";
const DURATIONS = ["sessionTimeout", "tickTime", "connectTimeout", "readTimeout"] as const;
/** Of TLS; they stand in the URL by the names that they have in the option `tls`. */
const TLS = ["caFile", "certFile", "keyFile", "servername"] as const;
const TEXTS = ["root", "acl"] as const;
const KEYS: readonly string[] = [...DURATIONS, ...TEXTS, "tls", ...TLS];

/** Reads a store URL, or a bare list of hosts with an optional chroot: what stands behind `zookeeper://`. Throws ConfigError. */
export function readUrl(text: string): Spelled {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(text)?.[0];
  if (scheme === undefined) return readHostList(text);
  if (scheme !== SCHEME) throw new ConfigError("store", `expected a URL that begins with ${SCHEME}, got one that begins with ${scheme}`);
  return readFullUrl(text.slice(SCHEME.length));
}

function readHostList(text: string): Spelled {
  if (text.includes("?") || text.includes("@")) {
    throw new ConfigError("store", `a bare list of hosts has neither options nor credentials: write ${SCHEME}… instead`);
  }
  return hostsAndChroot(text);
}

function readFullUrl(text: string): Spelled {
  if (text.includes("#")) throw new ConfigError("store", "a store URL has no fragment: write a # as %23");
  const [address = "", query] = split(text, "?");
  const at = address.lastIndexOf("@", firstSlash(address));
  // A password with a raw slash or question mark would be cut there, and its parts shown in messages about hosts and options.
  if ((at < 0 && address.includes("@")) || query?.includes("@")) {
    throw new ConfigError("store", "percent-encode the credentials, and any @ after the hosts");
  }
  const spelled = hostsAndChroot(address.slice(at + 1), (chroot) => decoded("chroot", chroot));
  if (at >= 0) spelled.auth = [digest(address.slice(0, at))];
  if (query !== undefined) readQuery(query, spelled);
  return spelled;
}

/** No message of this function shows what it was given: it is a secret. */
function digest(userinfo: string): { scheme: string; credentials: string } {
  const [user = "", password] = split(userinfo, ":");
  if (user === "" || password === undefined) throw new ConfigError("store", "expected the credentials as user:password@, percent-encoded");
  return { scheme: "digest", credentials: `${decoded("credentials", user)}:${decoded("credentials", password)}` };
}

function readQuery(query: string, spelled: Spelled): void {
  const seen = new Set<string>();
  const tls: ZooKeeperTls = {};
  for (const [key, value] of new URLSearchParams(query)) {
    if (!KEYS.includes(key)) throw new ConfigError(key, `unknown option in the store URL; expected one of ${KEYS.join(", ")}`);
    if (seen.has(key)) throw new ConfigError(key, "given twice in the store URL");
    seen.add(key);
    if ((TEXTS as readonly string[]).includes(key)) spelled[key as (typeof TEXTS)[number]] = value;
    else if (isTlsKey(key)) tls[key] = value;
    else if (key === "tls") spelled.tls = yesOrNo(key, value);
    else spelled[key as (typeof DURATIONS)[number]] = parseDurationText(key, value);
  }
  const [first] = Object.keys(tls);
  if (first === undefined) return;
  if (spelled.tls !== true) throw new ConfigError(first, "is for TLS: write tls=true as well");
  spelled.tls = tls;
}

function isTlsKey(key: string): key is (typeof TLS)[number] {
  return (TLS as readonly string[]).includes(key);
}

function yesOrNo(option: string, value: string): boolean {
  if (value !== "true" && value !== "false") throw new ConfigError(option, `expected true or false, got ${JSON.stringify(value)}`);
  return value === "true";
}

function hostsAndChroot(address: string, decode = (chroot: string) => chroot): Spelled {
  const slash = firstSlash(address);
  const chroot = address.slice(slash);
  const servers = address.slice(0, slash).split(",");
  return chroot === "" ? { servers } : { servers, chroot: decode(chroot) };
}

function firstSlash(address: string): number {
  const slash = address.indexOf("/");
  return slash < 0 ? address.length : slash;
}

function split(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(what: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError("store", `the ${what} in the URL are not percent-encoded correctly`);
  }
}
