import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { FrameSplitter, parseRequest, type Request } from "../support/proxy-frames.js";
import { PATIENCE } from "../support/wait-for.js";

export interface Script {
  /** The answer to a connect request; null: none. Default: a session of 30 s. */
  welcome?: (connection: number) => Buffer | null;
  /** The answer to a request; null: none. Default: success without content, and -101 to `exists`. */
  answer?: (request: Request, connection: number) => Buffer | null;
}

/** A server that says what a test wants it to say, for answers that a real one cannot be brought to give. */
export class ScriptedServer {
  readonly address: string;
  /** Of each connection, in order: what was asked for on it (`connect` first). */
  readonly heard: string[][] = [];
  readonly sockets: Socket[] = [];
  /** The connect requests. */
  readonly connects: Buffer[] = [];

  constructor(port: number) {
    this.address = `127.0.0.1:${port}`;
  }
}

export async function startScripted(script: Script = {}): Promise<ScriptedServer> {
  const listener = createServer((socket) => {
    const connection = server.sockets.push(socket) - 1;
    const heard: string[] = [];
    server.heard.push(heard);
    const splitter = new FrameSplitter(true);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const frame of splitter.push(chunk)) {
        const first = heard.length === 0;
        const request = first ? { xid: 0, opcode: "connect" as const } : parseRequest(frame);
        heard.push(request.opcode);
        if (first) server.connects.push(frame);
        const answer = first ? (script.welcome ?? (() => welcome()))(connection) : (script.answer ?? succeed)(request, connection);
        if (answer) socket.write(answer);
      }
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const server = new ScriptedServer((listener.address() as { port: number }).port);
  onTestFinished(() => {
    for (const socket of server.sockets) socket.destroy();
    listener.close();
  });
  return server;
}

function succeed({ xid, opcode }: Request): Buffer {
  return reply(xid, opcode === "exists" ? -101 : 0);
}

/** A connect response; timeout 0 says that the session has expired. */
export function welcome(options: { timeout?: number; id?: bigint; readOnly?: boolean } = {}): Buffer {
  const frame = Buffer.alloc(41);
  frame.writeInt32BE(37, 0);
  frame.writeInt32BE(options.timeout ?? 30_000, 8);
  frame.writeBigInt64BE(options.id ?? 0x100000000000001n, 12);
  frame.writeInt32BE(16, 20);
  frame.writeUInt8(options.readOnly ? 1 : 0, 40);
  return frame;
}

/** A reply with an error number (0: none) and what follows its header. */
export function reply(xid: number, error = 0, body: Buffer = Buffer.alloc(0), zxid = 1n): Buffer {
  const header = Buffer.alloc(20);
  header.writeInt32BE(16 + body.length, 0);
  header.writeInt32BE(xid, 4);
  header.writeBigInt64BE(zxid, 8);
  header.writeInt32BE(error, 16);
  return Buffer.concat([header, body]);
}

/** Hangs up on `zk`, and waits until it has noticed. The script must answer `exists` with -101 (or not be there). */
export async function hangUp(server: ScriptedServer, zk: ZooKeeperClient, connection = 0): Promise<void> {
  const watch = zk.watch("exists", "/", AbortSignal.timeout(PATIENCE));
  await watch.armed;
  server.sockets[connection]?.destroy();
  await watch.fired;
}

/** The body of a transaction's reply in which each operation has failed with such a number. */
export function failures(...errors: number[]): Buffer {
  const parts = errors.map((error) => {
    const part = Buffer.alloc(13);
    part.writeInt32BE(-1, 0);
    part.writeInt32BE(error, 5);
    part.writeInt32BE(error, 9);
    return part;
  });
  const end = Buffer.alloc(9);
  end.writeInt32BE(-1, 0);
  end.writeUInt8(1, 4);
  end.writeInt32BE(-1, 5);
  return Buffer.concat([...parts, end]);
}
