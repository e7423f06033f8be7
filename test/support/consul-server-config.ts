import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Identity } from "./certificates.js";

export interface ConsulTls extends Identity {
  /** Who must have signed the certificates of clients; PEM. Default: they need none. */
  readonly clientCa?: string;
}

export interface ConsulOptions {
  /** Of its node in the catalog. Default `consul`. */
  readonly name?: string;
  /** Shortest ttl of a session. Default `1s`. */
  readonly sessionTtlMin?: string;
  /** ACLs are on, default policy deny; this is the token that may do everything (a UUID). */
  readonly managementToken?: string;
  /** Serves HTTPS as well, on a port of its own. */
  readonly tls?: ConsulTls;
  /** Serves HTTP on a unix socket as well. */
  readonly unixSocket?: boolean;
  /** Default 1000. */
  readonly maxConnections?: number;
  /** Further members of the configuration; they replace ours of the same name. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface ConsulPorts {
  readonly http: number;
  /** null: no TLS */
  readonly https: number | null;
  readonly server: number;
  readonly serf: number;
}

/** Of a cluster: who the others are. */
export interface ConsulPeers {
  readonly size: number;
  /** The serf ports of all. */
  readonly join: readonly number[];
}

/** Writes the agent's configuration into `folder` and returns the file. */
export function configure(folder: string, node: string, ports: ConsulPorts, options: ConsulOptions, peers: ConsulPeers | null): string {
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  const config = {
    node_name: node,
    server: true,
    data_dir: data,
    bind_addr: "127.0.0.1",
    client_addr: "127.0.0.1",
    // One: the shortest timeouts that a server takes.
    performance: { raft_multiplier: 1, leave_drain_time: "0s" },
    session_ttl_min: options.sessionTtlMin ?? "1s",
    disable_update_check: true,
    // Else each agent writes a raft entry every few seconds.
    disable_coordinates: true,
    connect: { enabled: false },
    peering: { enabled: false },
    limits: { http_max_conns_per_client: options.maxConnections ?? 1_000 },
    ports: {
      http: ports.http,
      ...(ports.https !== null && { https: ports.https }),
      server: ports.server,
      serf_lan: ports.serf,
      serf_wan: -1,
      dns: -1,
      grpc: -1,
      grpc_tls: -1,
    },
    ...(options.unixSocket && { addresses: { http: `127.0.0.1 unix://${socketFile(folder)}` } }),
    ...(options.managementToken !== undefined && acl(options.managementToken)),
    ...(options.tls && { tls: { https: files(folder, options.tls) } }),
    ...(peers ? cluster(peers) : { bootstrap: true }),
    ...options.config,
  };
  const file = join(folder, "consul.json");
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

export function socketFile(folder: string): string {
  return join(folder, "http.sock");
}

function acl(token: string): Record<string, unknown> {
  // The agent's own token: without it the agent may not even enter its node into the catalog.
  return { acl: { enabled: true, default_policy: "deny", tokens: { initial_management: token, agent: token } } };
}

function files(folder: string, tls: ConsulTls): Record<string, unknown> {
  const [cert, key, ca] = [join(folder, "cert.pem"), join(folder, "key.pem"), join(folder, "client-ca.pem")];
  writeFileSync(cert, tls.cert);
  writeFileSync(key, tls.key, { mode: 0o600 });
  if (tls.clientCa !== undefined) writeFileSync(ca, tls.clientCa);
  return { cert_file: cert, key_file: key, ...(tls.clientCa !== undefined && { ca_file: ca, verify_incoming: true }) };
}

function cluster({ size, join }: ConsulPeers): Record<string, unknown> {
  return {
    bootstrap_expect: size,
    retry_join: join.map((port) => `127.0.0.1:${port}`),
    retry_interval: "1s",
    gossip_lan: { gossip_interval: "100ms", probe_interval: "100ms", probe_timeout: "100ms", suspicion_mult: 3 },
    // Else a server that is killed or frozen is removed, and the sessions of its agent with it.
    autopilot: { cleanup_dead_servers: false },
  };
}
