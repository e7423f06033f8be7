import type { HttpProxy } from "../test/support/http-proxy.js";
import { kindOf } from "../test/support/http-proxy-kinds.js";

/** When the newest renewal that the server has granted came by; ms of the monotonic clock. The server counts from a little later. */
export function lastRenewal(proxy: HttpProxy): number {
  const renewals = proxy.requests.filter((request) => kindOf(request) === "renewal" && request.status === 200);
  const last = renewals.at(-1);
  if (!last) throw new Error("the leader was killed before it had renewed its session");
  return Number(last.at) / 1e6;
}
