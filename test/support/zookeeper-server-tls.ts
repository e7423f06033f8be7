import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Identity } from "./certificates.js";

/** What a server shows and demands of its clients; PEM. */
export interface ServerTls extends Identity {
  /** Who must have signed the certificates of clients. */
  readonly ca: string;
  /** Whether clients must, may or cannot show one. Default `none`. */
  readonly clientAuth?: "need" | "want" | "none";
}

/** The lines of zoo.cfg for TLS; writes the files that they name. */
export function tlsConfig(folder: string, port: number, tls: ServerTls): Record<string, string | number> {
  const [keyStore, trustStore] = [join(folder, "key.pem"), join(folder, "trust.pem")];
  writeFileSync(keyStore, tls.key + tls.cert, { mode: 0o600 });
  writeFileSync(trustStore, tls.ca);
  return {
    secureClientPort: port,
    secureClientPortAddress: "127.0.0.1",
    // The default factory speaks no TLS.
    serverCnxnFactory: "org.apache.zookeeper.server.NettyServerCnxnFactory",
    "ssl.keyStore.location": keyStore,
    "ssl.trustStore.location": trustStore,
    "ssl.clientAuth": tls.clientAuth ?? "none",
  };
}
