import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const top = fileURLToPath(new URL("../..", import.meta.url));
export const main = join(top, "dist/src/cli/main.js");
export const readme = readFileSync(join(top, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text: text as string }));

/** The README's blocks in that language. */
export const inLanguage = (language: string): string[] => blocks.filter((block) => block.language === language).map(({ text }) => text);

/** A new folder in which the README's examples run. */
export function workplace(): string {
  // Below the package, so that "tenure" is it; not below dist/, which another test packs meanwhile.
  mkdirSync(join(top, ".cache"), { recursive: true });
  const dir = mkdtempSync(join(top, ".cache", "readme-"));
  writeFileSync(join(dir, "nightly.sh"), '#!/bin/sh\necho "$TENURE_ELECTION $TENURE_FENCE $*"\n', { mode: 0o755 });
  return dir;
}
