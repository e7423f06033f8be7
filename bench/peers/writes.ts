/*
 * Single pipelined setData by node-zookeeper-client as it is: `node writes.js ADDRESS ROOT`. Command: `write COUNT CONNECTIONS`;
 * answer: ms from the first call to the last reply.
 */
import { createRequire } from "node:module";
import { now, serve } from "./lines.js";

interface Client {
  once(event: "connected", listener: () => void): void;
  connect(): void;
  mkdirp(path: string, done: (error: Error | null) => void): void;
  setData(path: string, data: Buffer, version: number, done: (error: Error | null) => void): void;
}
const require = createRequire(import.meta.url);
const zookeeper = require("node-zookeeper-client") as { createClient(servers: string, options: object): Client };
const [address = "", root = ""] = process.argv.slice(2);

const clients = await Promise.all(
  Array.from({ length: 8 }, async (_, index) => {
    const client = zookeeper.createClient(address, { sessionTimeout: 15_000 });
    await new Promise<void>((resolve) => {
      client.once("connected", resolve);
      client.connect();
    });
    const path = `${root}/node${index}`;
    await new Promise<void>((resolve, reject) => client.mkdirp(path, (error) => (error ? reject(error) : resolve())));
    return { client, path };
  }),
);

await serve({
  async write(count = "", connections = "") {
    const data = Buffer.alloc(100);
    const from = now();
    await new Promise<void>((resolve, reject) => {
      let left = Number(count);
      for (let i = 0; i < Number(count); i++) {
        const { client, path } = clients[i % Number(connections)] as (typeof clients)[0];
        client.setData(path, data, -1, (error) => {
          if (error) reject(error);
          else if (--left === 0) resolve();
        });
      }
    });
    return [now() - from];
  },
});
