import { readFileSync } from "node:fs";
import { ConfigError } from "../../src/errors.js";
import type { Environment } from "./consul-env.js";

interface TokenOptions {
  readonly token?: unknown;
  readonly tokenFile?: unknown;
}

/** Null: none. Throws ConfigError; no message holds the token. */
export function readToken({ token, tokenFile }: TokenOptions, around: Environment): string | null {
  if (token !== undefined && tokenFile !== undefined) throw new ConfigError("token", "give either this or tokenFile");
  if (token !== undefined) return checked("token", token);
  // As in Consul's own tools, the file counts where both variables are there.
  const file = around.use("tokenFile", tokenFile);
  if (file !== undefined) return checked("tokenFile", contents(file));
  const found = around.use("token", undefined);
  return found === undefined ? null : checked("token", found);
}

function contents(file: unknown): string {
  if (typeof file !== "string" || file === "") throw new ConfigError("tokenFile", "expected the name of a file that holds a token");
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ConfigError("tokenFile", `cannot read ${JSON.stringify(file)} (${code}): name a readable file with a token in it`, { cause });
  }
}

/** What can stand in a header. */
function checked(option: string, token: unknown): string {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new ConfigError(option, "expected a token (the SecretID): printable characters without spaces, at least one");
}
