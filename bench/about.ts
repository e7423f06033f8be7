import { writeFileSync } from "node:fs";
import { arch, cpus, loadavg, release } from "node:os";
import { builds } from "./places.js";
import { say } from "./run.js";

/** Where and when a run was made. */
export interface About {
  readonly at: string;
  readonly node: string;
  readonly machine: string;
  readonly server: string;
  readonly builds: readonly { readonly name: string; readonly dist: string }[];
  /** Of the machine, over a minute, when the run began and ended. */
  readonly loadBefore: number;
  loadAfter: number;
}

export function about(server: string): About {
  return {
    at: new Date().toISOString(),
    node: process.version,
    machine: `${cpus().length} x ${cpus()[0]?.model ?? "?"}, ${process.platform} ${release()} ${arch()}`,
    server,
    builds: builds(),
    loadBefore: load(),
    loadAfter: 0,
  };
}

/** First line of a report. */
export function heading({ machine, node, server, loadBefore, loadAfter }: About): string {
  return `${machine}; Node ${node}; ${server}; load ${loadBefore.toFixed(1)} to ${loadAfter.toFixed(1)}. Times in ms.`;
}

/** Tells which part begins. */
export function announce(part: string): void {
  say(`${part} (load ${load().toFixed(1)})`);
}

/** Prints the report and ends the program; `file`: also all figures as JSON there. */
export function finish<T extends { readonly about: About }>(results: T, print: (results: T) => string, file: string | undefined): never {
  results.about.loadAfter = load();
  process.stdout.write(print(results));
  if (file) writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  process.exit();
}

function load(): number {
  return loadavg()[0] ?? 0;
}
