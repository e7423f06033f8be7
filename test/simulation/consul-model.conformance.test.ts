import { ConsulStore } from "../../adapters/consul/consul-store.js";
import { systemClock } from "../../src/clock.js";
import { conformance } from "../conformance/suite.js";
import { fresh } from "../support/names.js";
import { ModelNetwork } from "./consul-model/model-client.js";
import { ModelServer } from "./consul-model/model-server.js";

/** The server waits for twice that. And nobody tells the next in line of a deletion but its own sweep, once in that time. */
const TTL = { long: 4000, short: 2000 };
const LOCK_DELAY = 100;

/** What keeps the model honest: it is taken for Consul by the same cases as the real one. */
conformance("a model of Consul", async () => {
  const server = new ModelServer(systemClock, Math.random);
  const store = (prefix: string, life: "long" | "short") => modelStore(server, prefix, TTL[life]);
  return {
    async newStore(life) {
      return store("p", life);
    },
    expiryDelay: TTL.short + LOCK_DELAY + 500,
    async evict(election, id) {
      server.change((state) => {
        const term = state.pairs.get(`p/${election}/term`);
        const leads = term && (JSON.parse(term.value) as { id: string }).id === id && state.pairs.get(`p/${election}/leader`)?.session;
        if (leads) return state.remove(`p/${election}/leader`);
        for (const { key, value } of state.tree(`p/${election}/queue/`))
          if ((JSON.parse(value) as { id: string }).id === id) state.remove(key);
      });
    },
    async wipeElection(election) {
      server.change((state) => state.remove(`p/${election}/`));
    },
    async litter(name) {
      server.change((state) => state.put(`p/${name}`, "not tenure's"));
    },
    async newPlace() {
      return store(fresh("nothing"), "long");
    },
    async expire(session) {
      server.destroy(session.id);
    },
    async dispose() {},
  };
});

function modelStore(server: ModelServer, prefix: string, ttl: number) {
  const network = new ModelNetwork(server, Math.random);
  const client = { address: "", token: null, datacenter: null, namespace: null, partition: null, tls: null, requestTimeout: 5000 };
  const settings = { name: "model", prefix, ttl, lockDelay: LOCK_DELAY, checks: [], node: null, client };
  return new ConsulStore(settings, async (_, clock) => network.client(clock));
}
