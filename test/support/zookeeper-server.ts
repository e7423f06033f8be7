import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Identity } from "./certificates.js";
import { type ServerProcess, spawnServer } from "./child-server.js";
import { fourLetter } from "./four-letter.js";
import { freePort } from "./free-port.js";
import { installZooKeeper, type ZooKeeperInstall } from "./install-zookeeper.js";
import { PATIENCE, until, within } from "./wait-for.js";
import { type ServerTls, tlsConfig } from "./zookeeper-server-tls.js";

export interface ServerOptions {
  /** Milliseconds. Default 500. */
  readonly tickTime?: number;
  /** Further lines of zoo.cfg; they win over ours. */
  readonly config?: Readonly<Record<string, string | number>>;
  /** Default: a free one. */
  readonly port?: number;
  /** Further arguments of the JVM, such as `-Dzookeeper.skipACL=yes`. */
  readonly jvm?: readonly string[];
  /** Of an ensemble: the number of this server. */
  readonly myid?: number;
  /** Serves TLS as well, on a port of its own. */
  readonly tls?: ServerTls;
}

/** Starts a ZooKeeper server on 127.0.0.1 and waits until it serves. */
export async function startZooKeeper(options: ServerOptions = {}): Promise<ZooKeeperServer> {
  for (let tries = 1; ; tries++) {
    const server = await prepareZooKeeper(options);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.dispose();
      if (options.port !== undefined || tries === 3 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

/** As startZooKeeper, but not started yet. */
export async function prepareZooKeeper(options: ServerOptions): Promise<ZooKeeperServer> {
  const install = await installZooKeeper();
  const folder = await mkdtemp(join(tmpdir(), "tenure-zookeeper-"));
  folders.add(folder);
  return new ZooKeeperServer(install, folder, options.port ?? (await freePort()), options, options.tls ? await freePort() : null);
}

const folders = new Set<string>();
process.once("exit", () => folders.forEach(remove));

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** A server of the tests. Stopped and started again it keeps its port and its data. */
export class ZooKeeperServer {
  readonly port: number;
  readonly #install: ZooKeeperInstall;
  readonly #folder: string;
  readonly #options: ServerOptions;
  #tls: ServerTls | undefined;
  #process: ServerProcess | undefined;
  readonly #securePort: number | null;
  #paused = false;

  constructor(install: ZooKeeperInstall, folder: string, port: number, options: ServerOptions, securePort: number | null) {
    this.#install = install;
    this.#folder = folder;
    this.#options = options;
    this.port = port;
    this.#securePort = securePort;
    this.#tls = options.tls;
  }

  /** For clients. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Where it speaks TLS. */
  get secureAddress(): string {
    if (this.#securePort === null) throw new Error("the server was made without TLS");
    return `127.0.0.1:${this.#securePort}`;
  }

  /** Throws while it is not running. */
  get pid(): number {
    return this.#running().pid;
  }

  get running(): boolean {
    return this.#process?.running() ?? false;
  }

  /** What the server has logged since it was made. */
  get log(): string {
    return readFileSync(this.#logFile, "utf8");
  }

  /** Waits until it serves; `serving: false`: until the process runs (a server of an ensemble serves only with a majority). */
  async start(options: { serving?: boolean } = {}): Promise<void> {
    if (this.running) throw new Error("the server is running already");
    this.#configure();
    const logback = `-Dlogback.configurationFile=${join(this.#folder, "logback.xml")}`;
    const args = [...JVM, logback, ...(this.#options.jvm ?? []), "-cp", this.#install.classpath, MAIN, join(this.#folder, "zoo.cfg")];
    this.#paused = false;
    this.#process = await spawnServer(this.#install.java, args, this.#folder, this.#logFile);
    if (options.serving !== false) await this.serving();
  }

  /** Waits until it serves clients. */
  async serving(timeout = 2 * PATIENCE): Promise<void> {
    const ready = () => !this.running || this.mode().then((mode) => mode !== undefined);
    await until(ready, { timeout, every: 30, what: `ZooKeeper serves on port ${this.port}` }).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.#tail()}`);
    });
    if (!this.running) throw new Error(`the ZooKeeper server ended at once:\n${this.#tail()}`);
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

  /** Shows `identity` from its next start on. */
  certify(identity: Identity): void {
    if (this.#tls) this.#tls = { ...this.#tls, ...identity };
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

  /** Removes all data; the server must have been stopped. */
  wipe(): void {
    if (this.running) throw new Error("stop the server before you wipe its data");
    rmSync(join(this.#folder, "data"), { recursive: true, force: true });
  }

  /** The answer to one of ZooKeeper's four-letter words. */
  fourLetter(command: string): Promise<string> {
    return fourLetter(this.port, command);
  }

  /** The server's figures, such as `zk_ephemerals_count` and `zk_watch_count`. */
  async mntr(): Promise<Record<string, string>> {
    const lines = (await this.fourLetter("mntr")).trim().split("\n");
    return Object.fromEntries(lines.map((line) => line.split("\t") as [string, string]));
  }

  /** Undefined while it serves no clients. */
  async mode(): Promise<"standalone" | "leader" | "follower" | undefined> {
    return /^Mode: (standalone|leader|follower)$/m.exec(await this.fourLetter("srvr"))?.[1] as "leader" | undefined;
  }

  /** Stops it and removes its folder. */
  async dispose(): Promise<void> {
    await this.stop("SIGKILL");
    remove(this.#folder);
    folders.delete(this.#folder);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #running(): ServerProcess {
    if (!this.#process?.running()) throw new Error("the ZooKeeper server is not running");
    return this.#process;
  }

  get #logFile(): string {
    return join(this.#folder, "server.log");
  }

  #tail(): string {
    return this.log.trim().split("\n").slice(-15).join("\n");
  }

  #configure(): void {
    const data = join(this.#folder, "data");
    mkdirSync(data, { recursive: true });
    if (this.#options.myid !== undefined) writeFileSync(join(data, "myid"), String(this.#options.myid));
    const config = {
      tickTime: this.#options.tickTime ?? 500,
      dataDir: data,
      clientPort: this.port,
      clientPortAddress: "127.0.0.1",
      maxClientCnxns: 0,
      "admin.enableServer": false,
      "4lw.commands.whitelist": "*",
      ...(this.#tls && this.#securePort && tlsConfig(this.#folder, this.#securePort, this.#tls)),
      ...this.#options.config,
    };
    const lines = Object.entries(config).map(([key, value]) => `${key}=${value}\n`);
    writeFileSync(join(this.#folder, "zoo.cfg"), lines.join(""));
    writeFileSync(join(this.#folder, "logback.xml"), LOGBACK);
  }
}

const MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

/** Small and quick to start. Nothing is forced to the disk: the data must survive the process, not the machine. */
const JVM = [
  "-Xmx256m",
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
  "-Xshare:auto",
  "-Djava.net.preferIPv4Stack=true",
  "-Dzookeeper.forceSync=no",
  "-Dorg.slf4j.simpleLogger.showDateTime=true",
  "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
];

/** For a ZooKeeper that logs by logback (a distribution does): else it logs everything, at great length. */
const LOGBACK = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} %msg%n</pattern></encoder></appender>
  <root level="INFO"><appender-ref ref="out" /></root>
</configuration>
`;
