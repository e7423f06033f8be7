import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.js";
import { type Exchange, HttpLink } from "./http-proxy-link.js";
import { Entry, type LoggedRequest } from "./http-proxy-log.js";
import { type Action, type Match, Rule, type RuleOptions } from "./http-proxy-rules.js";

/** An HTTP proxy on 127.0.0.1, in this process, before a server on 127.0.0.1. */
export async function startHttpProxy(targetPort: number, port?: number): Promise<HttpProxy> {
  const proxy = new HttpProxy(targetPort, port ?? (await freePort()));
  await proxy.restore();
  return proxy;
}

/**
 * Passes on whole requests and answers, unless it is told otherwise. Each connection of a client has one to the server
 * (from its first request on), and each ends with the other.
 */
export class HttpProxy {
  readonly port: number;
  /** All requests that have come from clients, in their order. */
  readonly requests: LoggedRequest[] = [];
  readonly #target: number;
  readonly #links = new Map<Socket, HttpLink>();
  readonly #rules: Rule[] = [];
  #listener: Server | undefined;
  #swallowing = false;
  #most = 0;

  constructor(target: number, port: number) {
    this.#target = target;
    this.port = port;
  }

  /** For clients: `host:port`. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** How many connections of clients are open. */
  get connections(): number {
    return [...this.#links.keys()].filter((client) => !client.destroyed).length;
  }

  /** How many were open at once, at most. */
  get mostConnections(): number {
    return this.#most;
  }

  /** What becomes of the requests that match; of several rules the oldest that still takes one decides. */
  rule(match: Match, action: Action, options: RuleOptions = {}): Rule {
    const rule = new Rule(match, action, options);
    this.#rules.push(rule);
    return rule;
  }

  /**
   * Forwards and answers nothing any more, on open connections and new ones (they are accepted), and tells neither side that the
   * other one has hung up. What a rule has delayed or held goes on.
   */
  blackhole(): void {
    this.#swallowing = true;
  }

  /** Destroys all connections; new ones are refused. */
  async cut(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    const closed = new Promise((resolve) => (listener ? listener.close(resolve) : resolve(null)));
    this.hangUp();
    await closed;
  }

  /** Destroys all connections; new ones are served. */
  hangUp(): void {
    for (const link of this.#links.values()) link.destroy();
  }

  /** Ends blackhole and cut. Connections of which something was swallowed are destroyed, the others go on. */
  async restore(): Promise<void> {
    this.#swallowing = false;
    for (const link of this.#links.values()) if (link.lost) link.destroy();
    this.#sweep();
    if (this.#listener) return;
    const listener = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => void this.#serve(request, response));
    listener.on("connection", (client) => this.#open(client));
    await new Promise<void>((resolve, reject) => listener.once("error", reject).listen(this.port, "127.0.0.1", resolve));
    this.#listener = listener;
  }

  /** Closes the port and destroys all connections. */
  async dispose(): Promise<void> {
    this.#swallowing = false;
    await this.cut();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #open(client: Socket): void {
    this.#links.set(client, new HttpLink(client, this.#target, () => this.#swallowing));
    client.once("close", () => this.#sweep());
    this.#most = Math.max(this.#most, this.connections);
  }

  /** In a blackhole the server's side of a connection whose client has gone stays open. */
  #sweep(): void {
    if (this.#swallowing) return;
    for (const client of this.#links.keys()) if (client.destroyed) this.#links.delete(client);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const link = this.#links.get(request.socket);
    const body = await whole(request);
    if (!link || !body) return;
    const entry = new Entry(request, body);
    this.requests.push(entry);
    const exchange = { entry, request, response, body };
    if (this.#swallowing) {
      link.lost = true;
      return;
    }
    const rule = this.#rules.find((candidate) => candidate.take(entry));
    if (!rule) {
      this.#tell(link, exchange, await link.forward(exchange, false));
    } else if (rule.action.kind === "hold") {
      rule.keep(() => this.#carryOut(link, exchange, rule.action).then(() => rule.finish(entry)));
    } else {
      await this.#carryOut(link, exchange, rule.action);
      rule.finish(entry);
    }
  }

  async #carryOut(link: HttpLink, exchange: Exchange, action: Action): Promise<void> {
    if (action.kind === "swallow") return;
    if (action.kind === "answer") {
      const { status, headers, body } = action;
      const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      exchange.entry.answered(status, given.get("x-consul-index"));
      this.#tell(link, exchange, { status, headers: Object.entries(headers).flat(), body: Buffer.from(body) });
      return;
    }
    if (action.kind === "delay" && action.what === "request") await sleep(action.ms);
    const reply = await link.forward(exchange, true);
    if (action.kind === "delay" && action.what === "answer") await sleep(action.ms);
    if (action.kind === "mute") return;
    if (action.kind === "drop") this.#tell(link, exchange, null);
    else if (action.kind === "cutBody" && reply) await link.tellHalf(exchange, reply);
    else this.#tell(link, exchange, reply);
  }

  #tell(link: HttpLink, exchange: Exchange, reply: Parameters<HttpLink["tell"]>[1]): void {
    if (this.#swallowing) link.lost = true;
    else link.tell(exchange, reply);
  }
}

/** null: the client has hung up before the end of its request. */
async function whole(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch {
    return null;
  }
}
