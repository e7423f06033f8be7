import { randomBytes } from "node:crypto";

/** `prefix-` and something that no other test uses: for roots and elections on the shared server. */
export function fresh(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString("hex")}`;
}
