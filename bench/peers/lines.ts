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
type ZooKeeperStore = typeof import("../../dist/adapters/zookeeper/index.js");

/** The public API of the build in the folder `dist`. */
export async function loadTenure(dist: string): Promise<Pick<Tenure, "Elector"> & Pick<ZooKeeperStore, "zookeeper">> {
  const load = (file: string) => import(pathToFileURL(`${dist}/${file}`).href);
  const { Elector } = (await load("src/index.js")) as Tenure;
  const { zookeeper } = (await load("adapters/zookeeper/index.js")) as ZooKeeperStore;
  return { Elector, zookeeper };
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
