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
import { measureConsulCrash } from "./parts/consul-crash.js";
import { measureConsulHandOvers } from "./parts/consul-hand-over.js";
import { measureConsulMany } from "./parts/consul-many.js";
import { countConsulRequests } from "./parts/consul-requests.js";

const PARTS = ["hand-over", "requests", "crash", "many"] as const;
const USAGE = `npm run bench -- consul [options]
  --only PART[,PART]      of ${PARTS.join(", ")}; default: all
  --hand-overs N          counted, for each system and number of candidates (300)
  --candidates N[,N]      2,20,100
  --crashes N             rounds of killing leaders, each takes about half a minute (5)
  --crash-alone           without api.Lock beside
  --elections N           from one process to another (500)
  --rounds N              of handing them over and back (5)
  --many-crashes N        of killing the process that leads them (2)
  --json FILE             also writes all figures there
TENURE_DIST: the build, or several separated as in PATH, to compare them.
`;

const values = readCommandLine(
  "consul",
  {
    only: { type: "string" },
    "hand-overs": { type: "string", default: "300" },
    candidates: { type: "string", default: "2,20,100" },
    crashes: { type: "string", default: "5" },
    "crash-alone": { type: "boolean", default: false },
    elections: { type: "string", default: "500" },
    rounds: { type: "string", default: "5" },
    "many-crashes": { type: "string", default: "2" },
    json: { type: "string" },
  },
  USAGE,
);
const only = partsOf(PARTS, values.only, USAGE);
const handOvers = count("hand-overs", values["hand-overs"], USAGE);
const candidates = counts("candidates", values.candidates, USAGE);
const crashes = count("crashes", values.crashes, USAGE);
const elections = count("elections", values.elections, USAGE);
const rounds = count("rounds", values.rounds, USAGE);
const manyCrashes = count("many-crashes", values["many-crashes"], USAGE);

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
await on("crash", async (server) => {
  results.crash = await measureConsulCrash(server, crashes, !values["crash-alone"]);
});
if (only.includes("many")) {
  announce("many");
  results.many = await measureConsulMany({ elections, inOneTurn: elections, rounds }, manyCrashes);
}

finish(results, print, values.json);
