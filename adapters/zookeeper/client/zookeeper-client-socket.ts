import { connect, type Socket } from "node:net";
import type { Clock } from "../../../src/clock.js";
import { FrameSplitter } from "./zookeeper-client-frames.js";
import { connectTls, hungUp, type TlsFault, tlsFault } from "./zookeeper-client-tls.js";
import type { TlsSettings } from "./zookeeper-wire.js";

export interface SocketHost {
  connected(): void;
  frame(frame: Buffer): void;
  /** Every whole frame of what has arrived was handed over. */
  heard(): void;
  drained(): void;
  /** It broke, by itself; said once. `certificate`: one side does not accept the other's. */
  closed(reason: string, cause: unknown, certificate: boolean): void;
}

/** A connection to one server, by TCP or TLS, that brings frames. Calls its host no more once it was destroyed or has broken. */
export class FramedSocket {
  readonly #socket: Socket;
  readonly #host: SocketHost;
  readonly #tls: TlsSettings | null;
  #over = false;
  #connected = false;
  #heard = false;
  #corked = false;

  /** `server`: `host:port`, IPv6 in brackets. */
  constructor(server: string, tls: TlsSettings | null, host: SocketHost) {
    const colon = server.lastIndexOf(":");
    const name = server.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
    const port = Number(server.slice(colon + 1));
    const socket = tls === null ? connect({ host: name, port, noDelay: true }) : connectTls(name, port, tls);
    const splitter = new FrameSplitter((frame) => this.#over || host.frame(frame));
    socket.on(tls === null ? "connect" : "secureConnect", () => {
      this.#connected = true;
      if (!this.#over) host.connected();
    });
    socket.on("drain", () => this.#over || host.drained());
    socket.on("error", (cause: NodeJS.ErrnoException) => this.#broken(this.#inWords(cause), cause));
    socket.on("end", () => this.#broken(this.#hungUp()));
    socket.on("close", () => this.#broken(this.#hungUp()));
    socket.on("data", (chunk) => {
      if (this.#over) return;
      this.#heard = true;
      try {
        splitter.push(chunk);
        if (!this.#over) host.heard();
      } catch (cause) {
        const reason = `unreadable answer: ${cause instanceof Error ? cause.message : String(cause)}`;
        this.#broken({ reason, certificate: false }, cause);
      }
    });
    this.#socket = socket;
    this.#tls = tls;
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

  #broken({ reason, certificate }: TlsFault, cause?: unknown): void {
    if (this.#over) return;
    this.destroy();
    this.#host.closed(reason, cause, certificate);
  }

  #inWords(error: NodeJS.ErrnoException): TlsFault {
    const fault = this.#tls === null ? null : tlsFault(error, this.#tls);
    if (fault !== null) return fault;
    return error.code === "ECONNRESET" ? this.#hungUp(inWords(error)) : { reason: inWords(error), certificate: false };
  }

  #hungUp(reason = "the server closed the connection"): TlsFault {
    const hint = this.#heard ? "" : `: ${hungUp(this.#tls, this.#connected)}`;
    return { reason: reason + hint, certificate: false };
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
