import { ConfigError } from "../errors.js";
import type { Store } from "../store.js";
import type { Secrets } from "./credentials.js";

/** What is not in the store URL, or replaces what is there. */
export interface Access extends Secrets {
  /** ZooKeeper: who may do what with the nodes that are made; null: as the URL says. */
  readonly acl: string | null;
}

type Loader = (url: string, access: Access) => Promise<Store>;

/** By the scheme of the store URL. Each is loaded only when it is asked for. */
const STORES: Readonly<Record<string, Loader>> = {
  zookeeper: async (url, { credentials, passphrase, acl }) => {
    const { zookeeper } = await import("../../adapters/zookeeper/index.js");
    const { readUrl } = await import("../../adapters/zookeeper/zookeeper-url.js");
    const spelled = readUrl(url);
    if (credentials !== null) spelled.auth = [credentials];
    if (acl !== null) spelled.acl = acl;
    // The variable may be there for another store's key.
    if (passphrase !== null && typeof spelled.tls === "object" && spelled.tls.keyFile !== undefined) spelled.tls.passphrase = passphrase;
    return naming(() => zookeeper(spelled));
  },
  consul: async (url, { credentials, passphrase, acl }) => {
    const { readOptions } = await import("../../adapters/consul/consul-options.js");
    const { readUrl } = await import("../../adapters/consul/consul-url.js");
    const { ConsulStore } = await import("../../adapters/consul/consul-store.js");
    if (acl !== null) throw new ConfigError("acl", "is for ZooKeeper: on Consul, the policies of tokens say who may do what");
    const options = readUrl(url);
    if (credentials !== null) {
      if (credentials.scheme !== "token") {
        throw new ConfigError("token", `expected token:… from TENURE_AUTH or --auth-file, got the scheme ${credentials.scheme}`);
      }
      options.token = credentials.credentials;
      delete options.tokenFile;
    }
    return naming(() => new ConsulStore(readOptions(options, { env: process.env, passphrase })));
  },
};

/** The passphrase is not an option here. */
function naming<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ConfigError && error.option === "tls.passphrase"
      ? new ConfigError("TENURE_TLS_PASSPHRASE", error.message.replace("tls.passphrase: ", ""))
      : error;
  }
}

const KNOWN = Object.keys(STORES).map((scheme) => `${scheme}://`);

/** The store that `url` names. Throws a {@link ConfigError}. */
export async function openStore(url: string, access: Access): Promise<Store> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    throw new ConfigError("--store", `expected a URL that begins with ${KNOWN.join(" or ")}, such as zookeeper://zk1:2181,zk2:2181`);
  }
  if (scheme === "memory") {
    throw new ConfigError(
      "--store",
      `memory:// lives inside one process, nobody else could stand there: use ${KNOWN.join(" or ")} (or try \`tenure demo\`)`,
    );
  }
  const load = STORES[scheme];
  if (!load) throw new ConfigError("--store", `there is no store for ${scheme}://: use ${KNOWN.join(" or ")}`);
  return load(url, access);
}
