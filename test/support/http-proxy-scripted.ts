import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect } from "vitest";
import { type HttpProxy, startHttpProxy } from "./http-proxy.js";

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A proxy before a small server, and a client of it; for the tests of the proxy. */
export class Scripted {
  /** What has reached the server, as `METHOD url body`. */
  readonly seen: string[] = [];
  /** Open connections of the server. */
  readonly sockets = new Set<Socket>();
  /** The server answers after that: by the status `status` and the index `give` of the query. */
  released = Promise.resolve();
  readonly server: Server;
  readonly agent = new Agent({ keepAlive: true });
  proxy!: HttpProxy;

  constructor() {
    this.server = createServer(async (incoming, response) => {
      let body = "";
      for await (const chunk of incoming) body += chunk;
      this.seen.push(`${incoming.method} ${incoming.url} ${body}`);
      const url = new URL(incoming.url as string, "http://server");
      const status = Number(url.searchParams.get("status") ?? 200);
      response.writeHead(status, { "X-Consul-Index": url.searchParams.get("give") ?? "7", "X-Method": incoming.method });
      await this.released;
      response.end(`answer to ${url.pathname}`);
    });
    this.server.keepAliveTimeout = 0;
    this.server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.proxy = await startHttpProxy((this.server.address() as AddressInfo).port);
    return this;
  }

  /** Rejects when the connection ends before the answer has come as a whole, and when `signal` aborts. */
  send(method: string, path: string, body = "", signal?: AbortSignal): Promise<Got> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: this.proxy.port, method, path, agent: this.agent, ...(signal && { signal }) };
      const sent = request(options, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.once("error", (error) => reject(new Error(`${error.message} after "${text}"`)));
        response.once("end", () => resolve({ status: response.statusCode as number, headers: response.headers, body: text }));
      });
      sent.once("error", reject);
      sent.end(body);
    });
  }

  async dispose(): Promise<void> {
    this.agent.destroy();
    await this.proxy.dispose();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The body of a transaction. */
export function transaction(...operations: Record<string, unknown>[]): string {
  return JSON.stringify(operations.map((KV) => ({ KV })));
}

/** It is still unsettled a while later. */
export async function expectPending(call: Promise<unknown>): Promise<void> {
  let settled = false;
  const over = () => {
    settled = true;
  };
  call.then(over, over);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(settled).toBe(false);
}
