import { type ConsulOptions, consul } from "../../adapters/consul/index.js";
import { consul as address } from "../support/consul.js";
import { call } from "../support/consul-http.js";
import { fresh } from "../support/names.js";
import type { Harness } from "./harness.js";
import { conformance } from "./suite.js";

/** The server waits for twice that. And nobody tells the next in line of a deletion but its own sweep, once in that time. */
const TTL = { long: 4000, short: 2000 };
const LOCK_DELAY = 200;

interface Pair {
  readonly Key: string;
  readonly Value: string | null;
  readonly Session?: string;
}

async function prepare(options: ConsulOptions): Promise<Harness> {
  const prefix = fresh("conformance");
  const store = (where: string, life: "long" | "short") =>
    consul({ ...options, address, prefix: where, ttl: TTL[life], lockDelay: LOCK_DELAY });
  const read = async (election: string): Promise<Pair[]> => {
    const answer = await call(address, "GET", `/v1/kv/${prefix}/${election}/?recurse`);
    return answer.status === 404 ? [] : answer.json<Pair[]>();
  };
  const remove = async (key: string) => {
    await call(address, "DELETE", `/v1/kv/${key}`);
  };
  return {
    async newStore(life) {
      return store(prefix, life);
    },
    // The server waits for twice the ttl.
    expiryDelay: TTL.short + LOCK_DELAY + 1000,
    async evict(election, id) {
      const pairs = await read(election);
      const cardOf = ({ Value }: Pair) => JSON.parse(Buffer.from(Value ?? "", "base64").toString()) as { id?: string };
      const term = pairs.find(({ Key }) => Key.endsWith("/term"));
      const leads = term !== undefined && cardOf(term).id === id && pairs.some(({ Key, Session }) => Key.endsWith("/leader") && Session);
      if (leads) await remove(`${prefix}/${election}/leader`);
      else for (const pair of pairs) if (pair.Key.includes("/queue/") && cardOf(pair).id === id) await remove(pair.Key);
    },
    async wipeElection(election) {
      await remove(`${prefix}/${election}/?recurse`);
    },
    async litter(name) {
      await call(address, "PUT", `/v1/kv/${prefix}/${name}`, { body: "not tenure's" });
    },
    async newPlace() {
      return store(`${prefix}-${fresh("nothing")}`, "long");
    },
    async expire(session) {
      await call(address, "PUT", `/v1/session/destroy/${session.id}`);
    },
    async dispose() {
      await remove(`${prefix}/?recurse`);
    },
  };
}

conformance("Consul", () => prepare({}));
conformance("Consul, with a node of its own", () => prepare({ node: "tenure-conformance" }));
