import { connect } from "node:net";
import { FrameSplitter, OPCODES, parseConnectResponse } from "./proxy-frames.js";

/**
 * Ends a session of somebody else at the server, as its expiry would: takes it over by a second connection and closes it, in one
 * write, so that its owner cannot take it back in between. Resolves when the session and its ephemeral nodes have gone.
 * @throws Error when the session has gone before, or the server does not answer within 10 s.
 */
export function expire(address: string, session: { readonly id: bigint; readonly password: Buffer }): Promise<void> {
  const [host, port] = address.split(":") as [string, string];
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), timeout: 10_000 });
    const splitter = new FrameSplitter(true);
    let attached = false;
    const fail = (why: string) => socket.destroy(new Error(`session ${session.id.toString(16)} at ${address}: ${why}`));
    socket.on("timeout", () => fail("no answer within 10 s"));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed the connection")));
    socket.on("data", (chunk) => {
      for (const frame of splitter.push(chunk)) {
        if (attached) {
          const code = frame.readInt32BE(16);
          if (code !== 0) return fail(`refused with ${code}`);
          resolve();
          socket.destroy();
        } else if (parseConnectResponse(frame)) attached = true;
        else return fail("it has expired already");
      }
    });
    socket.write(Buffer.concat([connectRequest(session), closeRequest()]));
  });
}

/** Protocol version 0, last zxid 0, timeout 30 s, then the credentials; without them it opens a new session. */
export function connectRequest(session?: { readonly id: bigint; readonly password: Buffer }): Buffer {
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
