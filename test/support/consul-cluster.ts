import { type ConsulServer, consulPorts, prepareConsul } from "./consul-server.js";
import type { ConsulOptions } from "./consul-server-config.js";
import { until } from "./wait-for.js";

const SIZE = 3;

/** Starts three Consul servers and waits until each of them grants sessions. */
export async function startConsulCluster(options: ConsulOptions = {}): Promise<ConsulCluster> {
  const ports = await Promise.all(Array.from({ length: SIZE }, () => consulPorts(options)));
  const peers = { size: SIZE, join: ports.map(({ serf }) => serf) };
  const servers = await Promise.all(
    ports.map((own, index) => prepareConsul({ ...options, name: `consul${index + 1}` }, { ports: own, peers })),
  );
  const cluster = new ConsulCluster(servers);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.dispose();
    throw error;
  }
}

/** Three servers that talk to each other directly. */
export class ConsulCluster {
  readonly servers: readonly ConsulServer[];

  constructor(servers: readonly ConsulServer[]) {
    this.servers = servers;
  }

  /** Starts those that do not run, and waits until all grant sessions. */
  async start(): Promise<void> {
    await Promise.all(this.servers.filter((server) => !server.running).map((server) => server.start({ serving: false })));
    await Promise.all(this.servers.map((server) => server.serving()));
  }

  /**
   * The server that leads: waits up to 30 s until all servers that run and are not paused name the same one, and it is one of
   * them. (They go on naming a leader that was killed or paused until they have another.)
   */
  leader(): Promise<ConsulServer> {
    return until(() => this.#agreed(), { timeout: 30_000, every: 50, what: "the Consul servers have a leader" });
  }

  /** The servers that run, are not paused, and do not lead. */
  async followers(): Promise<ConsulServer[]> {
    const leader = await this.leader();
    return this.#awake().filter((server) => server !== leader);
  }

  /** A server that does not lead. */
  async follower(): Promise<ConsulServer> {
    const [follower] = await this.followers();
    if (!follower) throw new Error("the cluster has no follower");
    return follower;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.dispose()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #awake(): ConsulServer[] {
    return this.servers.filter((server) => server.running && !server.paused);
  }

  async #agreed(): Promise<ConsulServer | undefined> {
    const awake = this.#awake();
    const names = new Set(await Promise.all(awake.map((server) => server.ask<string>("GET", "/v1/status/leader"))));
    return names.size === 1 ? awake.find(({ ports }) => names.has(`127.0.0.1:${ports.server}`)) : undefined;
  }
}
