import type { ZooKeeperServer } from "../../support/zookeeper-server.js";
import { now } from "./now.js";

/**
 * When a server has expired a session by its timeout, as `now()`; null if its log does not say that it has. The servers of
 * the tests log the time of day; it is read as the last such time before this moment.
 */
export function expiryOf(servers: readonly ZooKeeperServer[], session: bigint): number | null {
  const line = new RegExp(`(\\d\\d):(\\d\\d):(\\d\\d)\\.(\\d\\d\\d).*Expiring session 0x${session.toString(16)}, timeout of`);
  for (const server of servers) {
    const [, ...digits] = line.exec(server.log) ?? [];
    if (digits.length === 0) continue;
    const [hours, minutes, seconds, milliseconds] = digits.map(Number) as [number, number, number, number];
    const day = new Date();
    day.setHours(hours, minutes, seconds, milliseconds);
    const ago = Date.now() - day.getTime();
    return now() - (ago < 0 ? ago + 24 * 3600 * 1000 : ago);
  }
  return null;
}
