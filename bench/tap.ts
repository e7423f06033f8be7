import { connect, createServer, type Server } from "node:net";
import { freePort } from "../test/support/free-port.js";
import { FrameSplitter } from "../test/support/proxy-frames.js";

const NAMES: Record<number, string> = {
  1: "create",
  2: "delete",
  3: "exists",
  4: "getData",
  5: "setData",
  8: "getChildren",
  9: "sync",
  11: "ping",
  12: "getChildren",
  13: "check",
  14: "multi",
  15: "create",
  18: "removeWatches",
  19: "create",
  100: "auth",
  101: "setWatches",
  105: "setWatches",
  106: "addWatch",
  [-11]: "closeSession",
};

/** Listens to the requests that pass to a server, and lists them. It changes and delays nothing. */
export class Tap {
  readonly port: number;
  readonly #listener: Server;
  #requests: string[] = [];

  private constructor(port: number, listener: Server) {
    this.port = port;
    this.#listener = listener;
  }

  /** Requests are shown with the paths below `root`; names of entries become `*`. */
  static async before(target: number, root: string): Promise<Tap> {
    const port = await freePort();
    const listener = createServer((client) => {
      const server = connect(target, "127.0.0.1");
      const splitter = new FrameSplitter(true);
      let first = true;
      for (const [from, to] of [[client, server] as const, [server, client] as const]) {
        from.setNoDelay(true);
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
      server.on("data", (chunk) => client.write(chunk));
      client.on("data", (chunk) => {
        server.write(chunk);
        for (const frame of splitter.push(chunk)) {
          if (!splitter.raw) tap.#requests.push(first ? "connect" : describe(frame, root));
          first = false;
        }
      });
    });
    await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
    const tap = new Tap(port, listener);
    return tap;
  }

  /** What has passed since the last call, in order. */
  take(): string[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  dispose(): void {
    this.#listener.close();
  }
}

/** What keeps a session alive or proves it, and belongs to no hand-over: pings, reads of the root, transactions that only check. */
export function isUpkeep(request: string): boolean {
  return request === "ping" || request === "exists /" || request === "closeSession" || /^multi\[check [^,]*\]$/.test(request);
}

function describe(frame: Buffer, root: string): string {
  const opcode = frame.readInt32BE(8);
  const name = NAMES[opcode] ?? String(opcode);
  if (opcode === 14) return `multi[${operations(frame, root).join(", ")}]`;
  if (opcode === 11 || opcode === -11 || opcode >= 100) return name;
  const { text } = readText(frame, 12);
  const hasWatch = opcode === 3 || opcode === 4 || opcode === 8 || opcode === 12;
  const watches = hasWatch && frame.readUInt8(frame.length - 1) === 1 ? " +watch" : "";
  return `${name} ${shorten(text, root)}${watches}`;
}

function operations(frame: Buffer, root: string): string[] {
  const found: string[] = [];
  for (let at = 12; at + 9 <= frame.length; ) {
    const type = frame.readInt32BE(at);
    if (frame.readUInt8(at + 4) === 1) break;
    const path = readText(frame, at + 9);
    found.push(`${NAMES[type] ?? type} ${shorten(path.text, root)}`);
    at = path.end;
    if (type === 1 || type === 5 || type === 15) at += 4 + Math.max(frame.readInt32BE(at), 0);
    if (type === 1 || type === 15) {
      const acls = frame.readInt32BE(at);
      at += 4;
      for (let acl = 0; acl < acls; acl++) at = readText(frame, readText(frame, at + 4).end).end;
    }
    at += 4;
  }
  return found;
}

function readText(frame: Buffer, at: number): { text: string; end: number } {
  const end = at + 4 + Math.max(frame.readInt32BE(at), 0);
  return { text: frame.toString("utf8", at + 4, end), end };
}

function shorten(path: string, root: string): string {
  const below = path === root ? "/" : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  return below.replace(/[^/]*[0-9a-f]{32}[^/]*|[^/]*[0-9a-f]{8}-[0-9a-f]{4}-[^/]*/g, "*").replace(/\be\d+\b/g, "e#");
}
