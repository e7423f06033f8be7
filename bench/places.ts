import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. This file runs as bench/dist/bench/places.js. */
export const project = fileURLToPath(new URL("../../../", import.meta.url));

/** What is installed once per machine lies here, beside the servers of the tests. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "tenure");

/** Sources of the peers' programs. */
export const sources = join(project, "bench", "peers");

/** Programs of ours that run in a process of their own. */
export function program(name: string): string {
  return join(project, "bench", "dist", "bench", "peers", `${name}.js`);
}

/** A build of tenure. */
export interface Build {
  readonly name: string;
  readonly dist: string;
}

/**
 * The builds of tenure to measure: TENURE_DIST, one folder or several (separated as in PATH), so that two builds can be
 * compared in one run. Default: the `dist` of this checkout.
 */
export function builds(): Build[] {
  const folders = (process.env.TENURE_DIST || join(project, "dist")).split(delimiter).map((folder) => resolve(folder));
  return folders.map((dist, index) => ({ name: index === 0 ? "tenure" : `tenure/${index + 1}`, dist }));
}
