import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "./free-port.js";
import type { GrantedSession, OpcodeName, Request } from "./proxy-frames.js";
import type { LaneRules } from "./proxy-lane.js";
import { type Fate, Link, type LinkHost } from "./proxy-link.js";

/** `up`: from the client to the server. */
export type Direction = "up" | "down";

export interface DropRule {
  readonly opcode: OpcodeName;
  /** The how manieth request of that opcode from now on, over all connections. Default 1: the next. */
  readonly nth?: number;
  /** Then also destroy the connection (what came before on it still passes). */
  readonly thenCut?: boolean;
}

export interface ProxyOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** False for links that do not speak ZooKeeper's client protocol: bytes are passed on as they come. Default true. */
  readonly framed?: boolean;
  /** Changes the first bytes that a client sends; only if not framed. */
  readonly rewrite?: (first: Buffer) => Buffer;
  /**
   * How long to go on trying when the server refuses the connection, ms; the client's stays open meanwhile. Default 0. (A proxy
   * cannot refuse on behalf of its server; clients take an accepted connection that is closed at once for something else.)
   */
  readonly patience?: number;
}

/** A TCP proxy on 127.0.0.1, in this process, before a server on 127.0.0.1. */
export async function startProxy(targetPort: number, options: ProxyOptions = {}): Promise<FaultProxy> {
  const proxy = new FaultProxy(targetPort, options.port ?? (await freePort()), options);
  await proxy.accept();
  return proxy;
}

/** Passes on whole frames of ZooKeeper's client protocol, unless it is told otherwise. */
export class FaultProxy {
  readonly port: number;
  readonly #target: number;
  readonly #patience: number;
  readonly #host: LinkHost;
  readonly #up: LaneRules = { swallow: false, held: false, delay: 0 };
  readonly #down: LaneRules = { swallow: false, held: false, delay: 0 };
  readonly #links = new Set<Link>();
  readonly #counts = new Map<string, number>();
  readonly #rules = new Set<Rule>();
  readonly #sessions = new Map<bigint, GrantedSession>();
  #listener: Server | undefined;
  #disposed = false;
  #most = 0;
  #cutInside: { bytes: number; done: () => void } | undefined;

  constructor(target: number, port: number, options: ProxyOptions) {
    this.port = port;
    this.#target = target;
    this.#patience = options.patience ?? 0;
    this.#host = {
      framed: options.framed ?? true,
      up: this.#up,
      down: this.#down,
      requested: (opcode) => this.#requested(opcode),
      granted: (session) => this.#sessions.set(session.id, session),
      nextReply: () => this.#nextReply(),
      rewrite: options.rewrite ?? ((first) => first),
      closed: (link) => this.#links.delete(link),
    };
  }

  /** For clients. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** How many connections of clients are open. */
  get connections(): number {
    return this.#links.size;
  }

  /** How many were open at once, at most. */
  get mostConnections(): number {
    return this.#most;
  }

  /** How many frames are held back or on their way. */
  get held(): number {
    return [...this.#links].reduce((sum, link) => sum + link.up.length + link.down.length, 0);
  }

  /** How many requests have come from clients, by opcode, whatever became of them. */
  requests(): { opcode: string; count: number }[];
  requests(opcode: OpcodeName): number;
  requests(opcode?: OpcodeName): number | { opcode: string; count: number }[] {
    if (opcode !== undefined) return this.#counts.get(opcode) ?? 0;
    return [...this.#counts].map(([name, count]) => ({ opcode: name, count }));
  }

  /** The sessions that were granted through this proxy, the newest last: what it takes to end one by force. */
  sessions(): GrantedSession[] {
    return [...this.#sessions.values()];
  }

  /** Resolves once such a request has come from a client; it is on its way to the server then, unless it is held, delayed or swallowed. */
  onRequest(opcode: OpcodeName, nth = 1): Promise<void> {
    return this.#rule({ opcode, nth }, null);
  }

  /**
   * Swallows everything, also the ends of connections; nothing is closed. New connections are accepted and swallowed as well.
   * With a direction: only what goes that way.
   */
  blackhole(direction?: Direction): void {
    for (const rules of this.#directions(direction)) rules.swallow = true;
    this.#pump();
  }

  /** Ends blackhole. Connections of which something was swallowed are destroyed (their streams have holes), the others go on. */
  heal(): void {
    for (const rules of this.#directions()) rules.swallow = false;
    for (const link of [...this.#links]) if (link.lost) link.destroy();
  }

  /** Keeps back what comes, until `release`. */
  hold(direction?: Direction): void {
    for (const rules of this.#directions(direction)) rules.held = true;
  }

  /** Sends at once, in order, all that was held back. */
  release(): void {
    for (const rules of this.#directions()) rules.held = false;
    this.#pump();
  }

  /** From now on everything takes `ms` longer (each way, or one way). 0 ends it. */
  delay(ms: number, direction?: Direction): void {
    for (const rules of this.#directions(direction)) rules.delay = ms;
  }

  /** Destroys all connections; new ones are served. */
  cut(): void {
    for (const link of [...this.#links]) link.destroy();
  }

  /** New connections are refused; open ones go on. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    if (!listener) return;
    // The callback waits for the connections as well; the port is closed at once.
    listener.close();
  }

  /** Ends refuse. */
  async accept(): Promise<void> {
    if (this.#listener) return;
    const listener = createServer({ allowHalfOpen: true }, (client: Socket) => {
      client.on("error", () => {});
      this.#connect(client, performance.now() + this.#patience);
    });
    await new Promise<void>((resolve, reject) => listener.once("error", reject).listen(this.port, "127.0.0.1", resolve));
    this.#listener = listener;
  }

  /** Passes `bytes` bytes of the next frame of the server, then destroys the connection. Resolves when it has met one. */
  cutInsideNextReply(bytes: number): Promise<void> {
    return new Promise((done) => {
      this.#cutInside = { bytes, done };
    });
  }

  /** Passes a request on, but swallows the reply to it. Resolves when it has been swallowed, or cannot come any more; never rejects. */
  dropReply(rule: DropRule): Promise<void> {
    return this.#rule(rule, "reply");
  }

  /** Swallows a request. Resolves when it has been swallowed; never rejects. */
  dropRequest(rule: DropRule): Promise<void> {
    return this.#rule(rule, "request");
  }

  /** Closes the port and destroys all connections. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.refuse();
    this.cut();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #connect(client: Socket, end: number): void {
    const server = connect({ port: this.#target, host: "127.0.0.1", allowHalfOpen: true });
    if (performance.now() >= end) {
      this.#open(client, server);
      return;
    }
    server.once("error", () => {
      if (this.#disposed || client.destroyed) client.destroy();
      else setTimeout(() => this.#connect(client, end), 20);
    });
    server.once("connect", () => this.#open(client, server));
  }

  #open(client: Socket, server: Socket): void {
    this.#links.add(new Link(client, server, this.#host));
    this.#most = Math.max(this.#most, this.#links.size);
  }

  #directions(direction?: Direction): LaneRules[] {
    return direction === "up" ? [this.#up] : direction === "down" ? [this.#down] : [this.#up, this.#down];
  }

  #pump(): void {
    for (const link of [...this.#links]) {
      link.up.pump();
      link.down.pump();
    }
  }

  #rule(rule: DropRule, drop: Fate["drop"]): Promise<void> {
    return new Promise((done) =>
      this.#rules.add({ opcode: rule.opcode, left: rule.nth ?? 1, fate: { drop, thenCut: rule.thenCut ?? false, done } }),
    );
  }

  #requested(opcode: Request["opcode"]): Fate {
    this.#counts.set(opcode, (this.#counts.get(opcode) ?? 0) + 1);
    let fate: Fate = { drop: null, thenCut: false, done: () => {} };
    for (const rule of [...this.#rules]) {
      if (rule.opcode !== opcode || --rule.left > 0) continue;
      this.#rules.delete(rule);
      if (rule.fate.drop === null) rule.fate.done();
      else fate = rule.fate;
    }
    return fate;
  }

  #nextReply(): number | undefined {
    const cut = this.#cutInside;
    this.#cutInside = undefined;
    cut?.done();
    return cut?.bytes;
  }
}

interface Rule {
  readonly opcode: OpcodeName;
  left: number;
  readonly fate: Fate;
}
