import { freePort } from "./free-port.js";
import { type FaultProxy, startProxy } from "./proxy.js";
import { until } from "./wait-for.js";
import { prepareZooKeeper, type ZooKeeperServer } from "./zookeeper-server.js";

export interface EnsembleOptions {
  /** Milliseconds. Default 500. */
  readonly tickTime?: number;
  /** Ticks after which a follower or the leader gives up a silent link. Default 10: the links pass this process, which may pause. */
  readonly syncLimit?: number;
  /** Further lines of every zoo.cfg. */
  readonly config?: Readonly<Record<string, string | number>>;
}

/** Starts three servers and waits until all serve clients. */
export async function startEnsemble(options: EnsembleOptions = {}): Promise<ZooKeeperEnsemble> {
  const ports = await Promise.all(Array.from({ length: SIZE }, async () => ({ quorum: await freePort(), election: await freePort() })));
  const links: QuorumLink[] = [];
  const servers: ZooKeeperServer[] = [];
  try {
    for (const [from, own] of ports.entries()) {
      for (const [to, peer] of ports.entries()) {
        if (from === to) continue;
        // A follower may call before the leader listens. Refused, it would try again; hung up on, it would begin a new election.
        const quorum = await startProxy(peer.quorum, { framed: false, patience: 4_000 });
        links.push({ from, to, own: own.election, quorum, election: await electionProxy(peer.election, () => reverse(links, from, to)) });
      }
    }
    for (const [me, own] of ports.entries()) {
      const address = (peer: number) => {
        const link = links.find(({ from, to }) => from === me && to === peer);
        return link ? `127.0.0.1:${link.quorum.port}:${link.election.port}` : `127.0.0.1:${own.quorum}:${own.election}`;
      };
      const peers = Object.fromEntries(ports.map((_, peer) => [`server.${peer + 1}`, address(peer)]));
      const config = { initLimit: 10, syncLimit: options.syncLimit ?? 10, ...peers, ...options.config };
      servers.push(await prepareZooKeeper({ tickTime: options.tickTime ?? 500, config, myid: me + 1 }));
    }
    const ensemble = new ZooKeeperEnsemble(servers, links);
    await ensemble.start();
    return ensemble;
  } catch (error) {
    await Promise.all([
      ...servers.map((server) => server.dispose()),
      ...links.flatMap(({ quorum, election }) => [quorum.dispose(), election.dispose()]),
    ]);
    throw error;
  }
}

const SIZE = 3;

/** The way from one server to another; both of its proxies stand where the first one believes the second to be. */
interface QuorumLink {
  readonly from: number;
  readonly to: number;
  /** The election port on which `from` really listens. */
  readonly own: number;
  readonly quorum: FaultProxy;
  readonly election: FaultProxy;
}

/**
 * A server that is asked by one with a lower number hangs up and calls back, at the address that the caller has told in its
 * first message. So that this call passes a proxy as well, the caller's address in that message is replaced.
 */
function electionProxy(target: number, back: () => { real: number; proxied: number }): Promise<FaultProxy> {
  const rewrite = (first: Buffer) => {
    const { real, proxied } = back();
    const text = first.toString("latin1").replace(`127.0.0.1:${real}`, `127.0.0.1:${proxied}`);
    return Buffer.from(text, "latin1");
  };
  return startProxy(target, { framed: false, rewrite });
}

function reverse(links: QuorumLink[], from: number, to: number): { real: number; proxied: number } {
  const there = links.find((link) => link.from === from && link.to === to) as QuorumLink;
  const back = links.find((link) => link.from === to && link.to === from) as QuorumLink;
  return { real: there.own, proxied: back.election.port };
}

/**
 * Three servers. The links between them pass proxies in this process: while its event loop is blocked, the ensemble is as well
 * (for longer than tickTime * syncLimit: it elects a new leader).
 */
export class ZooKeeperEnsemble {
  readonly servers: readonly ZooKeeperServer[];
  readonly #links: readonly QuorumLink[];
  readonly #cut = new Set<ZooKeeperServer>();

  constructor(servers: readonly ZooKeeperServer[], links: readonly QuorumLink[]) {
    this.servers = servers;
    this.#links = links;
  }

  /** For clients: all servers. */
  get address(): string {
    return this.servers.map((server) => server.address).join(",");
  }

  /** Starts those that do not run, and waits until all serve clients. */
  async start(): Promise<void> {
    await Promise.all(this.servers.filter((server) => !server.running).map((server) => server.start({ serving: false })));
    await Promise.all(this.servers.map((server) => server.serving()));
  }

  /** The server that leads; waits up to 30 s for one. After a cut the deposed one may call itself leader for a while. */
  leader(): Promise<ZooKeeperServer> {
    return until(async () => (await this.#inMode("leader"))[0], { every: 50, what: "the ensemble has a leader" });
  }

  /** The servers that follow now. */
  followers(): Promise<ZooKeeperServer[]> {
    return this.#inMode("follower");
  }

  /** Isolates `server` from the others, both ways (existing and new connections, nothing is closed); clients still reach it. */
  cut(server: ZooKeeperServer): void {
    this.#cut.add(server);
    for (const proxy of this.#proxies(server)) proxy.blackhole();
  }

  /** Ends `cut`. What was lost is lost: the servers connect anew. */
  heal(server: ZooKeeperServer): void {
    this.#cut.delete(server);
    for (const proxy of this.#proxies(server)) proxy.heal();
    for (const other of this.#cut) this.cut(other);
  }

  async dispose(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.dispose()));
    await Promise.all(this.#links.flatMap((link) => [link.quorum.dispose(), link.election.dispose()]));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #proxies(server: ZooKeeperServer): FaultProxy[] {
    const index = this.servers.indexOf(server);
    if (index < 0) throw new Error("not a server of this ensemble");
    return this.#links.filter(({ from, to }) => from === index || to === index).flatMap(({ quorum, election }) => [quorum, election]);
  }

  async #inMode(wanted: "leader" | "follower"): Promise<ZooKeeperServer[]> {
    const modes = await Promise.all(this.servers.map((server) => (server.running ? server.mode().catch(() => undefined) : undefined)));
    return this.servers.filter((_, index) => modes[index] === wanted);
  }
}
