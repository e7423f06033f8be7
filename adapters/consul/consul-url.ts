import { parseDurationText } from "../../src/duration.js";
import { ConfigError } from "../../src/errors.js";
import type { ConsulOptions } from "./consul-options.js";
import type { ConsulTls } from "./consul-tls.js";

const SCHEME = "consul://";
const DURATIONS = ["ttl", "lockDelay", "requestTimeout"] as const;
const TEXTS = ["address", "tokenFile", "datacenter", "namespace", "partition", "node"] as const;
/** Of TLS; they stand in the URL by the names that they have in the option `tls`. */
const TLS = ["caFile", "certFile", "keyFile", "servername"] as const;
const KEYS: readonly string[] = [...DURATIONS, ...TEXTS, "checks", "tls", ...TLS, "verify"];

/** Reads a store URL, or a bare `host:port/prefix`: what stands behind `consul://`. Throws ConfigError. */
export function readUrl(text: string): ConsulOptions {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(text)?.[0];
  if (scheme === undefined) {
    if (/[?@]/.test(text))
      throw new ConfigError("store", `a bare host:port/prefix has neither options nor a token: write ${SCHEME}… instead`);
    if (text === "") throw new ConfigError("store", `expected host:port/prefix, or ${SCHEME}host:port/prefix`);
    return hostAndPrefix(text);
  }
  if (scheme !== SCHEME) throw new ConfigError("store", `expected a URL that begins with ${SCHEME}, got one that begins with ${scheme}`);
  const rest = text.slice(SCHEME.length);
  if (rest.includes("#")) throw new ConfigError("store", "a store URL has no fragment: write a # as %23");
  const at = rest.indexOf("?");
  const where = at < 0 ? rest : rest.slice(0, at);
  if (where.includes("@")) throw tokenInUrl("store");
  const options = hostAndPrefix(where);
  if (at >= 0) readQuery(rest.slice(at + 1), options);
  return options;
}

/** No message shows what was given: it is a secret. */
function tokenInUrl(option: string): ConfigError {
  return new ConfigError(option, "a token does not belong in the store URL: use tokenFile=, CONSUL_HTTP_TOKEN or the option token");
}

function hostAndPrefix(where: string): ConsulOptions {
  const slash = where.indexOf("/");
  const [host, prefix] = slash < 0 ? [where, ""] : [where.slice(0, slash), where.slice(slash + 1)];
  return { ...(host !== "" && { address: host }), ...(prefix !== "" && { prefix }) };
}

function readQuery(query: string, options: ConsulOptions): void {
  const seen = new Set<string>();
  const tls: ConsulTls = {};
  for (const [key, value] of new URLSearchParams(query)) {
    if (key === "token") throw tokenInUrl(key);
    if (!KEYS.includes(key)) throw new ConfigError(key, `unknown option in the store URL; expected one of ${KEYS.join(", ")}`);
    if (seen.has(key)) throw new ConfigError(key, "given twice in the store URL");
    seen.add(key);
    if (among(TLS, key)) tls[key] = value;
    else if (key === "verify") tls.verify = yesOrNo(key, value);
    else if (key === "tls") options.tls = yesOrNo(key, value);
    else if (key === "checks") options.checks = value.split(",");
    else if (among(DURATIONS, key)) options[key] = inUrl(key, value);
    else if (key !== "address") options[key as Exclude<(typeof TEXTS)[number], "address">] = value;
    else if (options.address === undefined) options.address = value;
    else throw new ConfigError(key, "is there already, as the host of the store URL: leave out one of them");
  }
  const [first] = Object.keys(tls);
  if (first === undefined) return;
  if (options.tls !== true && !options.address?.startsWith("https://")) throw new ConfigError(first, "is for TLS: write tls=true as well");
  options.tls = tls;
}

/** Checked here for its unit; then it may be a number. */
function inUrl(option: string, value: string): string {
  parseDurationText(option, value);
  return value;
}

function among<T extends string>(keys: readonly T[], key: string): key is T {
  return (keys as readonly string[]).includes(key);
}

function yesOrNo(option: string, value: string): boolean {
  if (value !== "true" && value !== "false") throw new ConfigError(option, `expected true or false, got ${JSON.stringify(value)}`);
  return value === "true";
}
