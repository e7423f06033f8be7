import { homedir } from "node:os";
import { join } from "node:path";

/** What is installed or built once per machine lies here, outside the checkout. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "tenure");
}
