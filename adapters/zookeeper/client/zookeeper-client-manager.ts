import type { ConnectionManager, NodeZooKeeperClient } from "./zookeeper-client-package.js";
import type { ClientOptions } from "./zookeeper-wire.js";

/** An open session, to be taken along to another connection. */
export interface Resume {
  readonly id: Buffer;
  readonly password: Buffer;
  /** Milliseconds, as granted at first. */
  readonly timeout: number;
  /** The newest state of the store that was seen; a server that lags behind it refuses us. */
  readonly zxid: bigint;
}

/**
 * A ConnectionManager of the package for one connection. It gets no socket, only something to write to: so it sets no
 * timer, and neither connects, reconnects, pings nor closes by its own rules. Of what comes it sees the handshake only.
 */
export function manage(
  pkg: NodeZooKeeperClient,
  options: ClientOptions,
  resume: Resume | null,
  write: (bytes: Buffer) => boolean,
): ConnectionManager {
  const { id, password } = resume ?? { id: Buffer.alloc(8), password: Buffer.alloc(16) };
  const sessionTimeout = resume?.timeout ?? options.sessionTimeout;
  const managerOptions = { sessionTimeout, sessionId: id, sessionPassword: password, spinDelay: 0 };
  const manager = new pkg.ConnectionManager("unused", managerOptions, () => {});
  manager.zxid.writeBigInt64BE(resume?.zxid ?? 0n);
  manager.watcherManager = { isEmpty: () => true };
  manager.socket = { write, setTimeout: () => {} };
  for (const { scheme, credentials } of options.auth) manager.addAuthInfo(scheme, Buffer.from(credentials));
  return manager;
}
