import { type HttpProxy, startHttpProxy } from "../../test/support/http-proxy.js";
import { apiLock, endSessions, REFERENCE, startServer, tenure } from "../consul-systems.js";
import { type Traffic, TrafficWindow } from "../consul-traffic.js";
import { builds } from "../places.js";
import { say } from "../run.js";
import { holdOf } from "./consul-hand-over.js";

/** What one system asks of Consul for a hand-over, the old leader's standing again included. */
export interface ConsulRequestCount extends Traffic {
  readonly system: string;
  readonly candidates: number;
  readonly handOvers: number;
}

/** How long each leader of tenure leads, ms; all that a hand-over sets off is over by then. */
const SETTLED = 100;

/** One system after the other, alone on a server, behind a proxy. */
export async function countConsulRequests(sizes: readonly number[], handOvers: number): Promise<ConsulRequestCount[]> {
  const ways = [
    ...builds().map((build) => ({ on: (proxy: HttpProxy) => tenure(build, proxy.address, "bench/counted"), most: 60 })),
    { on: (proxy: HttpProxy) => apiLock(proxy.address, "bench/counted"), most: 20 },
  ];
  const results: ConsulRequestCount[] = [];
  for (const { on, most } of ways) {
    const server = await startServer();
    const proxy = await startHttpProxy(server.ports.http);
    const system = on(proxy);
    try {
      for (const candidates of sizes) {
        const window = new TrafficWindow(proxy, server);
        const counted = Math.min(handOvers, most);
        await system.chunk({ candidates, handOvers: counted, hold: system.name === REFERENCE ? holdOf(candidates) : SETTLED }, window);
        results.push({ system: system.name, candidates, handOvers: counted, ...window.each(counted) });
        const { perHandOver, raft } = results.at(-1) as ConsulRequestCount;
        say(`requests: ${system.name}, ${candidates} candidates: ${perHandOver} requests, ${raft} raft entries a hand-over`);
        await endSessions(server);
      }
    } finally {
      await system.quit();
      await proxy.dispose();
      await server.dispose();
    }
  }
  return results;
}
