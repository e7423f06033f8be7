import { connect, type Socket } from "node:net";
import type { Clock } from "../../../src/clock.js";
import { FrameSplitter } from "./zookeeper-client-frames.js";

export interface SocketHost {
  connected(): void;
  frame(frame: Buffer): void;
  /** Every whole frame of what has arrived was handed over. */
  heard(): void;
  drained(): void;
  /** It broke, by itself; said once. */
  closed(reason: string, cause?: unknown): void;
}

/** A TCP connection to one server that brings frames. Calls its host no more once it was destroyed or has broken. */
export class FramedSocket {
  readonly #socket: Socket;
  readonly #host: SocketHost;
  #over = false;
  #corked = false;

  /** `server`: `host:port`, IPv6 in brackets. */
  constructor(server: string, host: SocketHost) {
    const colon = server.lastIndexOf(":");
    const socket = connect({
      host: server.slice(0, colon).replace(/^\[(.*)\]$/, "$1"),
      port: Number(server.slice(colon + 1)),
      noDelay: true,
    });
    const splitter = new FrameSplitter((frame) => this.#over || host.frame(frame));
    socket.on("connect", () => this.#over || host.connected());
    socket.on("drain", () => this.#over || host.drained());
    socket.on("error", (cause: NodeJS.ErrnoException) => this.#broken(inWords(cause), cause));
    socket.on("end", () => this.#broken("the server closed the connection"));
    socket.on("close", () => this.#broken("the server closed the connection"));
    socket.on("data", (chunk) => {
      if (this.#over) return;
      try {
        splitter.push(chunk);
        if (!this.#over) host.heard();
      } catch (cause) {
        this.#broken(`unreadable answer: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
      }
    });
    this.#socket = socket;
    this.#host = host;
  }

  /** What is written in one turn of the event loop goes out as one. False: wait for `drained`. */
  write(bytes: Buffer): boolean {
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    return this.#socket.write(bytes);
  }

  /** At once; what has not gone out yet never does. */
  destroy(): void {
    this.#over = true;
    this.#socket.destroy();
  }

  /** Writes a last frame and hangs up; resolves when the connection has ended, after `ms` at the latest. */
  farewell(bytes: Buffer, clock: Clock, ms: number): Promise<void> {
    this.#over = true;
    const socket = this.#socket;
    if (socket.closed || socket.connecting) {
      socket.destroy();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = clock.after(ms, () => socket.destroy());
      socket.once("close", () => {
        timer.cancel();
        resolve();
      });
      socket.end(bytes);
    });
  }

  #broken(reason: string, cause?: unknown): void {
    if (this.#over) return;
    this.destroy();
    this.#host.closed(reason, cause);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to this host",
  ENOTFOUND: "no such host",
};

function inWords({ code, message }: NodeJS.ErrnoException): string {
  return (code === undefined ? undefined : (WORDS[code] ?? code)) ?? message;
}
