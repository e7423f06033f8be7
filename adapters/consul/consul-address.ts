import { ConfigError } from "../../src/errors.js";
import type { Environment } from "./consul-env.js";

/** Where an agent is. */
export interface Address {
  /** `http://host:port`, `https://host:port` or `unix:///path` */
  readonly address: string;
  readonly secure: boolean;
  readonly socket: boolean;
}

const LOCAL = "127.0.0.1";
/** Without a port: Consul's own, or those of URLs. */
const PORTS = { http: 8500, https: 8501 };
const URL_PORTS = { http: 80, https: 443 };

/**
 * Reads the option `address` in view of whether `tls` was asked for (undefined: not said). Variables stand in for what is not
 * given, with the meaning that they have for Consul's own tools. Throws ConfigError.
 */
export function readAddress(given: unknown, tls: boolean | undefined, around: Environment): Address {
  const text = around.use("address", given) ?? LOCAL;
  const fault = (what: string) => new ConfigError("address", what);
  if (typeof text !== "string") throw fault(`expected host:port, a URL or unix:///path, got ${JSON.stringify(text)}`);
  if (text.includes("@")) throw fault("expected host:port; a token belongs in the option token");
  if (text.includes(",")) throw fault(`expected one agent (which knows all servers), got ${JSON.stringify(text)}`);
  if (text.startsWith("unix://")) {
    if (tls === true) throw fault("is a unix socket, on which no TLS is spoken: leave out the option tls");
    if (!/^unix:\/\/\/./.test(text)) throw fault(`expected unix:// and an absolute path, got ${JSON.stringify(text)}`);
    return { address: text, secure: false, socket: true };
  }
  const [, scheme, host, port] =
    /^(?:(https?):\/\/)?(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?\/?$/.exec(text) ?? ([] as (string | undefined)[]);
  if (host === undefined) throw fault(`expected host:port, http(s)://host:port or unix:///path, got ${JSON.stringify(text)}`);
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
    throw fault(`expected a port from 1 to 65535, got ${JSON.stringify(text)}`);
  }
  if (given !== undefined && scheme !== undefined && tls !== undefined && tls !== (scheme === "https")) {
    throw fault(`says ${scheme}, but the option tls says otherwise: leave out one of them`);
  }
  const asked = tls ?? (given === undefined || scheme === undefined ? around.useSwitch("tls", undefined) : undefined);
  // As in Consul's own tools, an address in the environment that says https is not overruled by a switch that says false.
  const secure = tls ?? (asked || scheme === "https");
  const shown = secure ? "https" : "http";
  return { address: `${shown}://${host}:${Number(port ?? (scheme === undefined ? PORTS : URL_PORTS)[shown])}`, secure, socket: false };
}
