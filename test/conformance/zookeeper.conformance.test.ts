import { inject } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { expire } from "../support/expire-session.js";
import { fresh } from "../support/names.js";
import { type FaultProxy, startProxy } from "../support/proxy.js";
import { connectRaw } from "../support/raw-session.js";
import type { Harness } from "./harness.js";
import { conformance } from "./suite.js";

const TICK = 500;
const TTL = { long: 10_000, short: 4000 };

async function prepare(tickTime: number | undefined): Promise<Harness> {
  const address = inject("zookeeper");
  const root = `/${fresh("conformance")}`;
  const operator = await connectRaw(address);
  // Every client's way leads through it, because it knows the passwords: what it takes to end a session by force.
  const proxy: FaultProxy = await startProxy(Number(address.split(":")[1]));
  return {
    async newStore(life) {
      return zookeeper({ servers: proxy.address, root, sessionTimeout: TTL[life], ...(tickTime === undefined ? {} : { tickTime }) });
    },
    // The server looks for expired sessions once a tick, and rounds up to whole ticks.
    expiryDelay: 2 * TICK + 500,
    async evict(election, id) {
      const candidates = `${root}/${election}/candidates`;
      for (const name of await operator.children(candidates)) {
        const { data } = await operator.get(`${candidates}/${name}`);
        if ((JSON.parse(data) as { id: string }).id === id) await operator.delete(`${candidates}/${name}`);
      }
    },
    async wipeElection(election) {
      await operator.deleteAll(`${root}/${election}`);
    },
    async litter(name) {
      await operator.create(`${root}/${name}`);
    },
    async newPlace() {
      return zookeeper({ servers: proxy.address, root: `${root}-${fresh("nothing")}`, sessionTimeout: TTL.long });
    },
    async expire(session) {
      const granted = proxy.sessions().find(({ id }) => session.id === hexOf(id));
      if (!granted) throw new Error(`no session ${session.id}`);
      await expire(address, granted);
    },
    async dispose() {
      if (await operator.exists(root)) await operator.deleteAll(root);
      await operator.close();
      await proxy.dispose();
    },
  };
}

function hexOf(id: bigint): string {
  return `0x${BigInt.asUintN(64, id).toString(16)}`;
}

conformance("ZooKeeper", () => prepare(undefined));
conformance("ZooKeeper, with tickTime known", () => prepare(TICK));
