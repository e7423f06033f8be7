import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A folder beside this file in the checkout; compiled (as the bench is) this code runs elsewhere in it. */
export function sourceFolder(name: string): string {
  let project = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(project, "package.json"))) project = dirname(project);
  return join(project, "test", "support", name);
}
