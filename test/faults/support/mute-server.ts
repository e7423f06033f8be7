import { createServer, type Socket } from "node:net";
import { freePort } from "../../support/free-port.js";
import { until } from "../../support/wait-for.js";

/** A server that accepts connections and never answers. */
export interface MuteServer extends AsyncDisposable {
  readonly address: string;
  /** How many connections are open. */
  readonly connections: number;
  /** Resolves when none is open any more. */
  deserted(): Promise<unknown>;
}

export async function startMuteServer(): Promise<MuteServer> {
  const open = new Set<Socket>();
  const listener = createServer((socket) => {
    open.add(socket);
    socket
      .on("error", () => {})
      .on("close", () => open.delete(socket))
      .resume();
  });
  const port = await freePort();
  await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${port}`,
    get connections() {
      return open.size;
    },
    deserted: () => until(() => open.size === 0, { what: "the last connection is closed" }),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
