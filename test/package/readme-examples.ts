import { Authority } from "../support/certificates.js";

/** What surrounds the README's JavaScript examples when a test runs them: what they leave out, and how they come to an end. */
export interface Surroundings {
  /** Part of the example, by which it is found. */
  readonly has: string;
  readonly before: string;
  readonly after: string;
  /** What the run must print. */
  readonly prints: RegExp;
}

/** `ADDRESS` stands for the server's. */
export const SURROUNDINGS: readonly Surroundings[] = [
  {
    has: "postInvoices",
    before: `let posted = 0;
async function postInvoices({ fence, signal }) {
  if (!/^\\d+$/.test(fence) || !(signal instanceof AbortSignal)) throw new Error("no fence or signal");
  console.log("posted with fence", fence);
  if (++posted === 2) elector.stop();
}`,
    after: "",
    prints: /(posted with fence \d+\n){2}/,
  },
  {
    has: "scheduler.start",
    before: `const scheduler = {
  start: ({ fence }) => console.log("started with", fence),
  finish: async () => console.log("finished"),
  abandon: (reason) => console.log("abandoned:", reason),
};`,
    after: `await elector.elected();
process.emit("SIGTERM");
elector.on("stopped", () => console.log("stopped"));`,
    prints: /started with \d+\nfinished\nabandoned: stopped\nstopped\n/,
  },
  {
    has: "observe(store",
    before: `import { Elector } from "tenure";
const led = new Elector({ store: (await import("tenure/zookeeper")).zookeeper("zk1:2181,zk2:2181,zk3:2181/app"), election: "invoices", id: "me" });
led.start();
await led.elected();`,
    after: `await led.stop();
console.log((await inspect(store, "invoices")).leader?.id ?? "nobody");`,
    prints: /^me 1\n(led by me\n)?me \d+ \d+n \S+\nnobody\n$/,
  },
  {
    has: "listElections(store)",
    before: `import { Elector } from "tenure";
const led = new Elector({ store: (await import("tenure/zookeeper")).zookeeper("zk1:2181,zk2:2181,zk3:2181/app"), election: "invoices", id: "me" });
led.on("lost", ({ reason }) => console.log(reason));
led.start();
await led.elected();`,
    after: `await led.elected();
await led.stop();`,
    prints: /^invoices me 0\nevicted\nsettled\n/,
  },
  {
    has: "keyFile=me.key",
    before: `import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
process.chdir(dirname(fileURLToPath(import.meta.url)));
for (const [name, text] of Object.entries(${JSON.stringify(pemFiles())})) writeFileSync(name, text);`,
    after: `console.log("made");`,
    prints: /made/,
  },
  { has: "scheduler:secret", before: "", after: `console.log("made");`, prints: /made/ },
  {
    has: "fence(client",
    before: `import { Elector } from "tenure";
import { zookeeper } from "tenure/zookeeper";
import zk from "node-zookeeper-client";
const elector = new Elector({ store: zookeeper("zk1:2181,zk2:2181,zk3:2181/app"), election: "fenced" });
elector.start();
const term = await elector.elected();
const client = zk.createClient("zk1:2181,zk2:2181,zk3:2181/app");
client.connect();
await new Promise((resolve) => client.once("connected", resolve));
await new Promise((resolve) => client.create("/state", resolve));
const data = Buffer.from("by " + term.token);
let done;
const committed = new Promise((resolve, reject) => (done = (error) => (error ? reject(error) : resolve())));`,
    after: `await committed;
const newer = new Promise((resolve) => elector.once("elected", resolve));
elector.resign();
await newer;
const refused = new Promise((resolve) => fence(client.transaction(), term.handle).setData("/state", data).commit(resolve));
console.log("an older term:", (await refused)?.name);
client.close();
await elector.stop();`,
    prints: /an older term: BAD_VERSION/,
  },
  { has: "ManualClock", before: "", after: `console.log(b.state);`, prints: /stopped/ },
];

/** By the names that the README gives to them. */
function pemFiles(): Record<string, string> {
  const ca = new Authority("a CA");
  const { cert, key } = ca.issue("me");
  return { "ca.pem": ca.cert, "me.pem": cert, "me.key": key };
}
