/*
 * Many elections of tenure on one store value: `node --expose-gc tenure-many.js DIST STORE ADDRESS ROOT TTL`. Instants are of the
 * monotonic clock that all processes of the machine share.
 */
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import type { Elector } from "../../dist/src/index.js";
import { loadTenure, now, serve, sleep } from "./lines.js";

const { Elector: ElectorClass, open } = await loadTenure(process.argv.slice(2));
const store = open();

let electors: Elector[] = [];
let leading = 0;
let standing = 0;
let lastElected = 0;
let changed: () => void = () => {};

// Shared by all candidates, so that little of what is measured is ours.
const onElected = () => {
  leading++;
  lastElected = now();
  changed();
};
const onStandby = () => {
  standing++;
  changed();
};
const onWarning = (error: Error) => void process.stderr.write(`${error.message}\n`);

function candidate(election: string): Elector {
  const elector = new ElectorClass({ store, election, id: `p${process.pid}` });
  elector.on("elected", onElected);
  elector.on("standby", onStandby);
  elector.on("warning", onWarning);
  elector.start();
  return elector;
}

const until = (condition: () => boolean) =>
  new Promise<void>((resolve) => {
    changed = () => condition() && resolve();
    changed();
  });

/** Stands in `count` elections, so many of them in one turn, until each leads or waits. */
async function standInAll(count: number, inOneTurn: number): Promise<void> {
  leading = 0;
  standing = 0;
  while (electors.length < count) {
    const end = Math.min(electors.length + inOneTurn, count);
    while (electors.length < end) electors.push(candidate(`e${electors.length}`));
    await until(() => leading + standing >= end);
  }
}

/** RSS, heap in use with what lies outside of it, and heap that is taken from the system, in bytes, when all garbage has gone. */
async function memory(): Promise<number[]> {
  // One collection leaves half-empty pages, of which the next ones give some back.
  for (let i = 0; i < 10; i++) {
    (globalThis as unknown as { gc(): void }).gc();
    await sleep(1000);
  }
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  return [rss, heapUsed + external, heapTotal];
}

const profiler = new Session();

await serve({
  /** Opens the session and keeps it open, by one more election: the process that opens first leads it. */
  async open() {
    const kept = new ElectorClass({ store, election: "keeper", id: `p${process.pid}` });
    kept.on("lost", ({ reason }) => void process.stderr.write(`the keeper's term was lost: ${reason}\n`));
    const settled = new Promise<unknown>((resolve) => {
      kept.once("elected", resolve);
      kept.once("standby", () => resolve(null));
    });
    kept.start();
    await settled;
    return [];
  },
  /** How long it took, ms, and how many lead. */
  async stand(count = "", inOneTurn = "") {
    const from = now();
    await standInAll(Number(count), Number(inOneTurn));
    return [now() - from, leading];
  },
  /** Waits until `count` lead; when the last of them was told, and how many have been told. */
  async lead(count = "") {
    await until(() => leading >= Number(count));
    return [lastElected, leading];
  },
  /** How many lead now, and how many have been told so since they began to stand. */
  async leaders() {
    return [electors.filter((elector) => elector.isLeader).length, leading];
  },
  /** Stops all in one turn: when it began, when nothing was left at the store, and the ms of processor time since. */
  async stop() {
    const cpu = process.cpuUsage();
    const from = now();
    await Promise.all(electors.map((elector) => elector.stop()));
    const used = process.cpuUsage(cpu);
    electors = [];
    return [from, now(), (used.user + used.system) / 1000];
  },
  cpu: async () => {
    const { user, system } = process.cpuUsage();
    return [(user + system) / 1000];
  },
  memory,
  /** Records where the processor's time goes, from one call to the next, which names the file. */
  async profile(file = "") {
    if (file === "") {
      profiler.connect();
      await profiler.post("Profiler.enable");
      await profiler.post("Profiler.start");
    } else {
      writeFileSync(file, JSON.stringify((await profiler.post("Profiler.stop")).profile));
      profiler.disconnect();
    }
    return [];
  },
  async snapshot(file = "") {
    const { writeHeapSnapshot } = await import("node:v8");
    writeHeapSnapshot(file);
    return [];
  },
});
