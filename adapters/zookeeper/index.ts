/** Elections on ZooKeeper: `import { zookeeper } from "tenure/zookeeper"`. */
import type { Store } from "../../src/store.js";
import { readOptions, type ZooKeeperOptions } from "./zookeeper-options.js";
import { ZooKeeperStore } from "./zookeeper-store.js";

export type { Duration } from "../../src/duration.js";
export { ZooKeeperError } from "./client/zookeeper-error.js";
export type { ZooKeeperAcl } from "./client/zookeeper-wire.js";
export type { ZooKeeperAuth, ZooKeeperOptions } from "./zookeeper-options.js";
export { type CheckingTransaction, fence, isHandle, type ZooKeeperHandle } from "./zookeeper-places.js";
export type { ZooKeeperTls } from "./zookeeper-tls.js";

/**
 * A store on a ZooKeeper ensemble. Takes a store URL
 * (`zookeeper://h1:2181,h2:2181/chroot?sessionTimeout=15s&tickTime=2s&connectTimeout=5s&readTimeout=10s&root=/tenure`, with
 * `tls=true&caFile=…&certFile=…&keyFile=…&servername=…` for TLS, and
 * `user:password@` before the hosts for digest credentials), a bare list of hosts (`h1:2181,h2:2181/chroot`), or options.
 * Nothing is sent before an elector or observer uses it. Throws ConfigError.
 */
export function zookeeper(options: string | ZooKeeperOptions): Store {
  return new ZooKeeperStore(readOptions(options), async (client, clock, signal) => {
    const { connectZooKeeper } = await import("./client/zookeeper-client.js");
    return connectZooKeeper(client, clock, signal);
  });
}
