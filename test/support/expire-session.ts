import { connect } from "node:net";
import { FrameSplitter, OPCODES, parseConnectResponse } from "./proxy-frames.js";
import { PATIENCE } from "./wait-for.js";

type Credentials = { readonly id: bigint; readonly password: Buffer };

/**
 * Ends a session of somebody else at the server, as its expiry would: takes it over by a second connection and closes it.
 * Repeats that when the connection ends before the answer: the owner has taken the session back, or the server has refused
 * one connection too many. Resolves when the session and its ephemeral nodes have gone.
 * @throws Error when the session has gone before, or the server does not answer for as long as {@link PATIENCE}.
 */
export async function expire(address: string, session: Credentials): Promise<void> {
  let asked = false;
  for (let tries = 1; tries <= 20; tries++) {
    const outcome = await attempt(address, session);
    // Only who once asked for the end may take the session's absence for its own doing.
    if (outcome === "closed" || (outcome === "gone" && asked)) return;
    asked ||= outcome === "asked";
    if (outcome === "gone") throw new Error(`session ${session.id.toString(16)} at ${address} has expired already`);
  }
  throw new Error(`session ${session.id.toString(16)} at ${address}: 20 connections ended before the answer`);
}

function attempt(address: string, session: Credentials): Promise<"closed" | "gone" | "asked" | "refused"> {
  const [host, port] = address.split(":") as [string, string];
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), timeout: PATIENCE });
    const splitter = new FrameSplitter(true);
    let attached = false;
    const interrupted = () => resolve(attached ? "asked" : "refused");
    socket.on("timeout", () => socket.destroy(new Error(`no answer from ${address} within ${PATIENCE} ms`)));
    socket.on("error", (error: NodeJS.ErrnoException) => (error.code === "ECONNRESET" ? interrupted() : reject(error)));
    socket.on("close", interrupted);
    socket.on("data", (chunk) => {
      for (const frame of splitter.push(chunk)) {
        if (!attached && parseConnectResponse(frame)) {
          attached = true;
          socket.write(closeRequest());
        } else {
          const done = attached && frame.readInt32BE(16) === 0;
          resolve(done ? "closed" : attached ? "asked" : "gone");
          socket.destroy();
          return;
        }
      }
    });
    socket.write(connectRequest(session));
  });
}

/** Protocol version 0, last zxid 0, timeout 30 s, then the credentials; without them it opens a new session. */
export function connectRequest(session?: Credentials): Buffer {
  const frame = Buffer.alloc(48);
  frame.writeInt32BE(44, 0);
  frame.writeInt32BE(30_000, 16);
  if (session) frame.writeBigInt64BE(session.id, 20);
  frame.writeInt32BE(16, 28);
  session?.password.copy(frame, 32);
  return frame;
}

function closeRequest(): Buffer {
  const frame = Buffer.alloc(12);
  frame.writeInt32BE(8, 0);
  frame.writeInt32BE(1, 4);
  frame.writeInt32BE(OPCODES.closeSession, 8);
  return frame;
}
