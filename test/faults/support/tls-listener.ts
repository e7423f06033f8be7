import { createServer, type TLSSocket } from "node:tls";
import type { Identity } from "../../support/certificates.js";
import { freePort } from "../../support/free-port.js";

/** Something that speaks TLS on 127.0.0.1, answers nothing, and notes what it is told. */
export interface TlsListener extends AsyncDisposable {
  readonly port: number;
  /** The server names that clients asked for; false: none. */
  readonly names: (string | false)[];
  /** How many handshakes came to their end, or failed. */
  handshakes(): number;
  /** Bytes, decrypted; and in how many records of TLS they came. */
  readonly heard: { bytes: number; pieces: number };
}

export async function startTlsListener(identity: Identity): Promise<TlsListener> {
  const names: (string | false)[] = [];
  const open = new Set<TLSSocket>();
  let handshakes = 0;
  const heard = { bytes: 0, pieces: 0 };
  const server = createServer({ ...identity }, (socket) => {
    handshakes++;
    open.add(socket);
    names.push((socket as unknown as { servername: string | false }).servername);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      heard.bytes += chunk.length;
      heard.pieces++;
    });
  });
  server.on("tlsClientError", () => handshakes++);
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () => {
    for (const socket of open) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port, names, handshakes: () => handshakes, heard, [Symbol.asyncDispose]: close };
}
