import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as it came over the line. */
export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent: what is in it must not pass through JSON.parse, which rounds. */
  readonly body: string;
  readonly socket: Socket;
}

/** What a request is answered; nothing at all is a black hole. */
export type Script = (asked: Asked, answer: ServerResponse) => void;

/** An HTTP server that answers as a test says. */
export class ScriptedConsul {
  readonly asked: Asked[] = [];
  /** Connections that are open. */
  readonly open = new Set<Socket>();
  script: Script = () => {};
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method = "", url = "", headers, socket } = request;
        const asked = { method, url, headers, body: Buffer.concat(chunks).toString(), socket };
        this.asked.push(asked);
        this.script(asked, response);
      });
    });
    // As Consul: Node would end idle connections by itself after 5 s.
    this.#server.keepAliveTimeout = 0;
    this.#server.on("connection", (socket) => {
      this.open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.open.delete(socket));
    });
  }

  static async start(): Promise<ScriptedConsul> {
    const scripted = new ScriptedConsul();
    await new Promise<void>((resolve) => scripted.#server.listen(0, "127.0.0.1", resolve));
    return scripted;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Answers everything alike; a body that is no text is sent as JSON. */
  answers(status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): void {
    this.script = (_, answer) => {
      const text = typeof body === "string";
      answer.writeHead(status, { "content-type": text ? "text/plain" : "application/json", ...headers });
      answer.end(text ? body : JSON.stringify(body));
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
