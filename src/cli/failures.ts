import { ConfigError, StoreError, type StoreErrorCode } from "../errors.js";
import { EXIT } from "./exit-codes.js";

const STORE_EXITS: Readonly<Record<StoreErrorCode, number>> = {
  unreachable: EXIT.unreachable,
  timeout: EXIT.unreachable,
  "connection-lost": EXIT.unreachable,
  "session-ended": EXIT.unreachable,
  rejected: EXIT.unusable,
  auth: EXIT.refused,
  certificate: EXIT.refused,
  "foreign-data": EXIT.unusable,
  unsupported: EXIT.unusable,
  "too-large": EXIT.unusable,
};

const UNREACHABLE_HINT = "check the address in --store, and that the store runs and has a quorum";
const HINTS: Partial<Readonly<Record<StoreErrorCode, string>>> = {
  unreachable: UNREACHABLE_HINT,
  timeout: UNREACHABLE_HINT,
  "connection-lost": UNREACHABLE_HINT,
  auth: "credentials come from TENURE_AUTH or --auth-file",
  certificate: "in --store, tls.ca, tls.cert, tls.key and tls.servername are caFile=, certFile=, keyFile= and servername=",
};

/** What a failure of the command line comes to: its exit code, and one line that says what to do next. */
export interface Failure {
  readonly code: number;
  readonly line: string;
}

export function failureOf(error: unknown): Failure {
  const message = oneLine(error instanceof Error ? error.message : String(error));
  if (error instanceof ConfigError) return { code: EXIT.usage, line: message };
  if (error instanceof StoreError) {
    const hint = HINTS[error.code];
    return { code: STORE_EXITS[error.code] ?? EXIT.unusable, line: hint ? `${message}: ${hint}` : message };
  }
  return { code: EXIT.internal, line: `${message}: this is a mistake in tenure, please report it` };
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
