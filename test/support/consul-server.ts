import { readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerProcess, spawnServer } from "./child-server.js";
import { type Answer, type CallOptions, call } from "./consul-http.js";
import { type ConsulOptions, type ConsulPeers, type ConsulPorts, configure, socketFile } from "./consul-server-config.js";
import { freePort } from "./free-port.js";
import { type ConsulInstall, installConsul } from "./install-consul.js";
import { until, within } from "./wait-for.js";

/** Starts a single Consul server on 127.0.0.1 and waits until it grants sessions. */
export async function startConsul(options: ConsulOptions = {}): Promise<ConsulServer> {
  for (let tries = 1; ; tries++) {
    const server = await prepareConsul(options);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.dispose();
      if (tries === 3 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

/**
 * Starts an agent that is no server: a member of the cluster of `server`. Stopped by SIGTERM it leaves, and its node and the
 * sessions of that end at once; killed or not, it comes back by `start`.
 */
export function startConsulAgent(server: ConsulServer, options: ConsulOptions = {}): Promise<ConsulServer> {
  const config = { server: false, bootstrap: false, retry_join: [`127.0.0.1:${server.ports.serf}`], retry_interval: "1s" };
  return startConsul({ name: "agent", ...options, config: { ...config, ...options.config } });
}

/** As startConsul, but not started yet; with peers: a server of a cluster. */
export async function prepareConsul(options: ConsulOptions, cluster?: { ports: ConsulPorts; peers: ConsulPeers }): Promise<ConsulServer> {
  const install = await installConsul();
  const ports = cluster?.ports ?? (await consulPorts(options));
  const folder = await mkdtemp(join(tmpdir(), "tenure-consul-"));
  folders.add(folder);
  return new ConsulServer(install, folder, ports, options, cluster?.peers ?? null);
}

export async function consulPorts(options: ConsulOptions): Promise<ConsulPorts> {
  return { http: await freePort(), https: options.tls ? await freePort() : null, server: await freePort(), serf: await freePort() };
}

const folders = new Set<string>();
process.once("exit", () => folders.forEach(remove));

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** A server of the tests. Stopped and started again it keeps its ports and its data. */
export class ConsulServer {
  /** Of its node in the catalog. */
  readonly name: string;
  readonly ports: ConsulPorts;
  readonly #install: ConsulInstall;
  readonly #folder: string;
  readonly #options: ConsulOptions;
  readonly #peers: ConsulPeers | null;
  #process: ServerProcess | undefined;
  #paused = false;

  constructor(install: ConsulInstall, folder: string, ports: ConsulPorts, options: ConsulOptions, peers: ConsulPeers | null) {
    this.#install = install;
    this.#folder = folder;
    this.name = options.name ?? "consul";
    this.ports = ports;
    this.#options = options;
    this.#peers = peers;
  }

  /** `host:port` of HTTP. */
  get address(): string {
    return `127.0.0.1:${this.ports.http}`;
  }

  /** `host:port` of HTTPS. */
  get secureAddress(): string {
    if (this.ports.https === null) throw new Error("the server was made without TLS");
    return `127.0.0.1:${this.ports.https}`;
  }

  /** The path of its unix socket. */
  get socket(): string {
    if (!this.#options.unixSocket) throw new Error("the server was made without a unix socket");
    return socketFile(this.#folder);
  }

  /** Throws while it is not running. */
  get pid(): number {
    if (!this.#process?.running()) throw new Error("the Consul server is not running");
    return this.#process.pid;
  }

  get running(): boolean {
    return this.#process?.running() ?? false;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** What the server has logged since it was made. */
  get log(): string {
    return readFileSync(this.#logFile, "utf8");
  }

  /** Waits until it grants sessions; `serving: false`: until the process runs (one of a cluster serves only with a majority). */
  async start(options: { serving?: boolean } = {}): Promise<void> {
    if (this.running) throw new Error("the server is running already");
    const config = configure(this.#folder, this.name, this.ports, this.#options, this.#peers);
    this.#paused = false;
    const args = ["agent", `-config-file=${config}`, "-log-level=info"];
    this.#process = await spawnServer(this.#install.command, args, this.#folder, this.#logFile);
    if (options.serving !== false) await this.serving();
  }

  /** Waits until it grants sessions, which takes a leader of the servers, and this agent's node in the catalog. */
  async serving(timeout = 40_000): Promise<void> {
    const ready = async () => !this.running || (await this.#grants());
    await until(ready, { timeout, every: 50, what: `Consul grants sessions on port ${this.ports.http}` }).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.#tail()}`);
    });
    if (!this.running) throw new Error(`the Consul server ended at once:\n${this.#tail()}`);
  }

  /** Ends the process and waits for its end. Does nothing if it is not running. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const process_ = this.#process;
    if (!process_?.running()) return;
    process.kill(process_.pid, signal);
    if (this.#paused) this.resume();
    await within(process_.exited, 10_000).catch(() => {
      process.kill(process_.pid, "SIGKILL");
      return process_.exited;
    });
  }

  /** SIGKILL. */
  kill(): Promise<void> {
    return this.stop("SIGKILL");
  }

  /** Stops it (default: SIGTERM) and starts it again, on the same ports and data. */
  async restart(signal: NodeJS.Signals = "SIGTERM", options: { serving?: boolean } = {}): Promise<void> {
    await this.stop(signal);
    await this.start(options);
  }

  /** SIGSTOP: its connections stay open, nothing is answered. */
  pause(): void {
    process.kill(this.pid, "SIGSTOP");
    this.#paused = true;
  }

  /** SIGCONT. */
  resume(): void {
    process.kill(this.pid, "SIGCONT");
    this.#paused = false;
  }

  /** A request to this server; with the management token, if there is one. */
  call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const token = options.token ?? this.#options.managementToken;
    return call(this.address, method, path, { ...options, ...(token !== undefined && { token }) });
  }

  /** As call, but anything but 200 is an error; resolves to the answer's JSON. */
  async ask<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const answer = await this.call(method, path, options);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.trim()}`);
    return answer.json<T>();
  }

  /** The state of all servers, as it is now. */
  async snapshot(): Promise<Buffer> {
    const answer = await this.call("GET", "/v1/snapshot", { timeout: 20_000 });
    if (answer.status !== 200) throw new Error(`no snapshot: ${answer.status} ${answer.text.trim()}`);
    return answer.body;
  }

  /** Puts all servers back into the state of `snapshot`. */
  async restore(snapshot: Buffer): Promise<void> {
    const answer = await this.call("PUT", "/v1/snapshot", { body: snapshot, timeout: 20_000 });
    if (answer.status !== 200) throw new Error(`not restored: ${answer.status} ${answer.text.trim()}`);
  }

  /** Index of the newest entry in this server's raft log. Asking adds none. */
  async raftIndex(): Promise<number> {
    const self = await this.ask<{ Stats: { raft: { last_log_index: string } } }>("GET", "/v1/agent/self");
    return Number(self.Stats.raft.last_log_index);
  }

  /** Kills it and removes its folder. */
  async dispose(): Promise<void> {
    await this.kill();
    remove(this.#folder);
    folders.delete(this.#folder);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #grants(): Promise<boolean> {
    const body = { Name: "readiness", Checks: [], TTL: "30s" };
    const created = await this.call("PUT", "/v1/session/create", { body, timeout: 9_000 });
    if (created.status !== 200) throw new Error(`${created.status} ${created.text.trim()}`);
    await this.ask("PUT", `/v1/session/destroy/${created.json<{ ID: string }>().ID}`);
    return true;
  }

  get #logFile(): string {
    return join(this.#folder, "server.log");
  }

  #tail(): string {
    return this.log.trim().split("\n").slice(-15).join("\n");
  }
}
