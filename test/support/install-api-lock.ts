import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildGo } from "./build-go.js";
import { cacheFolder } from "./cache.js";
import { sourceFolder } from "./sources.js";

const NAME = "consul-api-lock";

let installed: Promise<string> | undefined;

/**
 * Builds the Go program that takes locks by Consul's own Go client, once per machine and version of its source. Resolves to the
 * command.
 * @throws Error that names what to install.
 */
export function installApiLock(): Promise<string> {
  installed ??= install(process.env);
  return installed;
}

async function install(env: NodeJS.ProcessEnv): Promise<string> {
  const source = sourceFolder(NAME);
  const hash = createHash("sha256");
  for (const name of readdirSync(source).sort()) hash.update(readFileSync(join(source, name)));
  const target = join(cacheFolder(env), `${NAME}-${hash.digest("hex").slice(0, 12)}`, NAME);
  const name = "a user of Go's api.Lock";
  await buildGo({ name, source, main: ".", target, go: "1.26.7", takes: "half a minute, up to three", instead: "" }, env);
  return target;
}
