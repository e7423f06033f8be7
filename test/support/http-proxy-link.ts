import { Agent, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Entry } from "./http-proxy-log.js";

/** An answer of the server, as a whole. */
interface Reply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** A request of a client, as a whole, with the way to answer it. */
export interface Exchange {
  readonly entry: Entry;
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/** A connection of a client, and the one to the server that goes with it. */
export class HttpLink {
  readonly client: Socket;
  /** Something that went either way, or the end of one, was swallowed. */
  lost = false;
  readonly #target: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #swallowing: () => boolean;
  readonly #servers = new Set<Socket>();
  /** Requests that are forwarded whatever the client does. */
  #kept = 0;
  #busy = 0;

  constructor(client: Socket, target: number, swallowing: () => boolean) {
    this.client = client;
    this.#target = target;
    this.#swallowing = swallowing;
    client.on("error", () => {});
    client.once("close", () => this.#closed());
  }

  /** Ends both connections, but not what must reach the server whatever happens. */
  destroy(): void {
    this.client.destroy();
    if (this.#kept === 0) this.#agent.destroy();
  }

  /** Resolves to the server's answer; null: its connection ended without one. `whatever`: the client's end does not end it. */
  async forward({ entry, request, body }: Exchange, whatever: boolean): Promise<Reply | null> {
    if (whatever) this.#kept++;
    this.#busy++;
    const reply = await this.#send(request, body);
    this.#busy--;
    if (whatever) this.#kept--;
    if (reply) entry.answered(reply.status, header(reply, "x-consul-index"));
    if (this.client.destroyed) this.#closed();
    return reply;
  }

  /** Tells the client; without an answer: ends its connection. */
  tell({ response }: Exchange, reply: Reply | null): void {
    if (!reply) {
      this.client.destroy();
      return;
    }
    this.#head(response, reply);
    response.end(reply.body);
  }

  /** Tells half of it, then ends the connection. */
  tellHalf({ response }: Exchange, reply: Reply): Promise<void> {
    this.#head(response, reply);
    return new Promise((resolve) => {
      response.write(reply.body.subarray(0, Math.ceil(reply.body.length / 2)), () => {
        this.client.destroy();
        resolve();
      });
    });
  }

  #head(response: ServerResponse, reply: Reply): void {
    response.sendDate = false;
    response.writeHead(reply.status, [...reply.headers, "Content-Length", String(reply.body.length)]);
  }

  #send(incoming: IncomingMessage, body: Buffer): Promise<Reply | null> {
    return new Promise((resolve) => {
      const headers = [...passed(incoming.rawHeaders), "Content-Length", String(body.length)];
      const sent = request({
        host: "127.0.0.1",
        port: this.#target,
        method: incoming.method,
        path: incoming.url,
        headers: headers as never,
        agent: this.#agent,
      });
      sent.once("socket", (socket) => this.#watch(socket));
      sent.once("error", () => resolve(null));
      sent.once("close", () => resolve(null));
      sent.once("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", () => resolve(null));
        response.once("end", () => {
          const close = response.headers.connection === "close" ? ["Connection", "close"] : [];
          resolve({
            status: response.statusCode as number,
            headers: [...passed(response.rawHeaders), ...close],
            body: Buffer.concat(chunks),
          });
        });
      });
      sent.end(body);
    });
  }

  /** The server hangs up on a client that is idle. */
  #watch(socket: Socket): void {
    if (this.#servers.has(socket)) return;
    this.#servers.add(socket);
    socket.once("close", () => {
      this.#servers.delete(socket);
      if (this.#swallowing()) this.lost = true;
      else if (this.#busy === 0) this.client.end();
    });
  }

  /** The client hangs up. */
  #closed(): void {
    if (this.#swallowing()) this.lost = true;
    else if (this.#kept === 0) this.#agent.destroy();
  }
}

/** What belongs to a connection and not to a message is not passed on; bodies are sent as a whole. */
const HOP = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "expect"]);

function passed(raw: readonly string[]): string[] {
  return raw.filter((_, index) => !HOP.has((raw[index - (index % 2)] as string).toLowerCase()));
}

function header({ headers }: Reply, name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? undefined : headers[at + 1];
}
