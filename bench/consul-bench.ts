/*
 * `npm run bench -- consul [--only PART] [--hand-overs 300] [--json FILE]`: what tenure costs on a real Consul, beside Go's
 * api.Lock. bench/README.md says what is measured how.
 */
import type { ConsulServer } from "../test/support/consul-server.js";
import { installApiLock } from "../test/support/install-api-lock.js";
import { installConsul } from "../test/support/install-consul.js";
import { about, announce, finish } from "./about.js";
import { count, counts, partsOf, readCommandLine } from "./command-line.js";
import { print, type Results } from "./consul-report.js";
import { SERVER_KIND, startServer, TTL } from "./consul-systems.js";
import { measureConsulHandOvers } from "./parts/consul-hand-over.js";
import { countConsulRequests } from "./parts/consul-requests.js";

const PARTS = ["hand-over", "requests"] as const;
const USAGE = `npm run bench -- consul [options]
  --only PART[,PART]      of ${PARTS.join(", ")}; default: all
  --hand-overs N          counted, for each system and number of candidates (300)
  --candidates N[,N]      2,20,100
  --json FILE             also writes all figures there
TENURE_DIST: the build, or several separated as in PATH, to compare them.
`;

const values = readCommandLine(
  "consul",
  {
    only: { type: "string" },
    "hand-overs": { type: "string", default: "300" },
    candidates: { type: "string", default: "2,20,100" },
    json: { type: "string" },
  },
  USAGE,
);
const only = partsOf(PARTS, values.only, USAGE);
const handOvers = count("hand-overs", values["hand-overs"], USAGE);
const candidates = counts("candidates", values.candidates, USAGE);

const { origin } = await installConsul();
await installApiLock();
const results: Results = { about: about(`${origin.replace(/ \(.*/, "")}, ${SERVER_KIND}; sessions ${TTL} ms`) };

/** Each part has a server of its own, so that what one leaves behind does not weigh on the next. */
async function on(part: (typeof PARTS)[number], measure: (server: ConsulServer) => Promise<void>): Promise<void> {
  if (!only.includes(part)) return;
  announce(part);
  const server = await startServer();
  try {
    await measure(server);
  } finally {
    await server.dispose();
  }
}

await on("hand-over", async (server) => {
  results.handOvers = await measureConsulHandOvers(server, candidates, handOvers);
});
if (only.includes("requests")) {
  announce("requests");
  results.requests = await countConsulRequests(candidates, handOvers);
}

finish(results, print, values.json);
