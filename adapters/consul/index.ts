/** Elections on Consul: `import { consul } from "tenure/consul"`. */
import type { Store } from "../../src/store.js";
import { type ConsulOptions, readOptions } from "./consul-options.js";
import { ConsulStore } from "./consul-store.js";

export type { Duration } from "../../src/duration.js";
export { type CheckingOperation, type ConsulHandle, fence, isHandle } from "./consul-handle.js";
export type { ConsulOptions } from "./consul-options.js";
export type { ConsulTls } from "./consul-tls.js";

/**
 * A store on a Consul cluster, by way of one agent. Takes a store URL
 * (`consul://host:8500/prefix?ttl=15s&lockDelay=1s&requestTimeout=10s&datacenter=…&namespace=…&partition=…&node=…&checks=a,b&tokenFile=…`,
 * with `tls=true&caFile=…&certFile=…&keyFile=…&servername=…&verify=true` for TLS, and `consul:///prefix?address=unix:///path` for a unix
 * socket), a bare `host:port/prefix`, or options. What is not given comes from the environment (`CONSUL_HTTP_ADDR`, `CONSUL_HTTP_TOKEN`,
 * `CONSUL_HTTP_SSL`…), as for Consul's own tools. Nothing is sent before an elector or observer uses it. Throws ConfigError.
 */
export function consul(options: string | ConsulOptions = {}): Store {
  return new ConsulStore(readOptions(options, { env: process.env, passphrase: null }));
}
