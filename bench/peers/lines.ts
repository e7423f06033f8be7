import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/** Milliseconds by the monotonic clock, which all processes of a machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Answers each line of stdin by the command of that name, one at a time; ends with stdin, or by `quit`. */
export async function serve(commands: Record<string, (...words: string[]) => Promise<readonly (number | string)[]>>): Promise<never> {
  for await (const line of createInterface({ input: process.stdin })) {
    const [name = "", ...words] = line.split(" ");
    if (name === "quit") break;
    try {
      const command = commands[name];
      if (!command) throw new Error(`no command ${name}`);
      process.stdout.write(`${["ok", ...(await command(...words))].join(" ")}\n`);
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stdout.write(`failed ${text.replaceAll("\n", " | ")}\n`);
    }
  }
  process.exit();
}

type Tenure = typeof import("../../dist/src/index.js");
type ZooKeeper = typeof import("../../dist/adapters/zookeeper/index.js");
type Consul = typeof import("../../dist/adapters/consul/index.js");

/** By the words `DIST STORE ADDRESS ROOT TTL`: the elector of the build in the folder `DIST`, and what makes store values. */
export async function loadTenure(
  words: readonly string[],
): Promise<Pick<Tenure, "Elector"> & { open(): ReturnType<ZooKeeper["zookeeper"]> }> {
  const [dist = "", store = "", address = "", root = "", ttl = ""] = words;
  const load = (file: string) => import(pathToFileURL(`${dist}/${file}`).href);
  const { Elector } = (await load("src/index.js")) as Tenure;
  const adapter = await load(`adapters/${store}/index.js`);
  if (store === "consul") {
    const { consul } = adapter as Consul;
    return { Elector, open: () => consul({ address, prefix: root, ttl: Number(ttl), lockDelay: 1000 }) };
  }
  const { zookeeper } = adapter as ZooKeeper;
  return { Elector, open: () => zookeeper({ servers: address, root, sessionTimeout: Number(ttl) }) };
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
