import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { EXIT } from "./exit-codes.js";

/** Null when `file` can be executed; else what a shell would say, and with which status. */
export function cannotRun(file: string, path: string | undefined): { status: number; message: string } | null {
  const candidates = file.includes("/") ? [file] : (path ?? "/usr/bin:/bin").split(delimiter).map((folder) => join(folder || ".", file));
  const found = candidates.filter((each) => statSync(each, { throwIfNoEntry: false })?.isFile());
  if (found.some(executable)) return null;
  if (found.length > 0) return { status: EXIT.cannotExecute, message: `${file}: not executable: check its permissions` };
  return { status: EXIT.notFound, message: `${file}: command not found: check its name and PATH` };
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
