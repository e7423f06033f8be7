import { memory } from "../../adapters/memory/index.js";
import { conformance } from "./suite.js";

const KINDS = [
  { name: "memory", options: {} },
  { name: "memory, with proofs that vouch for the past", options: { gap: 600 } },
  { name: "memory, with lock-delay and latency", options: { lockDelay: 200, latency: 2 } },
];

for (const { name, options } of KINDS) {
  conformance(name, async () => {
    const server = memory({ ...options, ttl: 10_000 });
    const brief = memory({ ...options, ttl: 3000 });
    return {
      async newStore(life) {
        return (life === "short" ? brief : server).client();
      },
      expiryDelay: 250,
      async evict(election, id) {
        server.evict(id, election);
      },
      async wipeElection(election) {
        server.deleteElection(election);
      },
      async litter(name) {
        server.inject(name, "not tenure's");
      },
      async newPlace() {
        return memory(options);
      },
      async expire(session) {
        server.expire(session.id);
      },
      async dispose() {},
    };
  });
}
