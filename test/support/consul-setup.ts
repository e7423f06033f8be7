import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type ConsulServer, startConsul } from "./consul-server.js";
import setupOthers from "./global-setup.js";
import { installApiLock } from "./install-api-lock.js";
import { installConsul } from "./install-consul.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** The file that tells of the shared Consul server once it runs, or why it does not: see consul.ts. */
    consulFile: string;
  }
}

/** What that file holds. */
export type ConsulNews = { readonly address: string; readonly command: string } | { readonly error: string };

/**
 * Once for a run that has tests with Consul: begins to start the shared server, which may have to be built first. That goes on
 * while the tests run that need none: the others wait for it in consul.ts.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "tenure-consul-news-"));
  const file = join(folder, "news.json");
  const tell = (news: ConsulNews) => {
    writeFileSync(`${file}.new`, JSON.stringify(news));
    renameSync(`${file}.new`, file);
  };
  let server: ConsulServer | undefined;
  const starting = (async () => {
    const { command } = await installConsul();
    // No test waits for it later; one that needs it says why it could not be built.
    await installApiLock().catch(() => {});
    server = await startConsul();
    tell({ address: server.address, command });
  })().catch((error: Error) => tell({ error: error.message }));
  project.provide("consulFile", file);
  const disposeOthers = await setupOthers(project);
  return async () => {
    // A build that is still under way ends with this process.
    if (server) await starting.then(() => server?.dispose());
    await disposeOthers();
    rmSync(folder, { recursive: true, force: true });
  };
}
