import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { once } from "./once.js";
import { startZooKeeper } from "./zookeeper-server.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** `host:port` of the standalone ZooKeeper server that all test files share (tickTime 500): use a root of your own, never stop it. */
    zookeeper: string;
    /** What `npm run build` said if it failed, else empty. Tests of the command line and of the package expect it to be empty. */
    buildError: string;
  }
}

/** Once for a run that has more than unit tests: builds dist/ and starts the shared server. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const starting = once("zookeeper", () => startZooKeeper({ tickTime: 500 }).catch((error: Error) => error));
  // Neither may be left running when the other one fails.
  const [started, buildError] = await Promise.all([starting, once("build", build)]);
  if (started instanceof Error) throw started;
  project.provide("zookeeper", started.address);
  project.provide("buildError", buildError);
  return () => started.dispose();
}

async function build(): Promise<string> {
  const error = await promisify(execFile)("npm", ["run", "build", "--silent"]).then(
    () => "",
    (failed: { stdout?: string; message: string }) => failed.stdout || failed.message,
  );
  if (error) process.stderr.write(`[tests] npm run build failed:\n${error}\n`);
  return error;
}
