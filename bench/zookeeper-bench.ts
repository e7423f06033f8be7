/*
 * `npm run bench -- zookeeper [--only PART] [--hand-overs 300] [--json FILE]`: what tenure costs, beside Curator and kazoo, on
 * real servers. bench/README.md says what is measured how.
 */
import type { ZooKeeperServer } from "../test/support/zookeeper-server.js";
import { about, announce, finish } from "./about.js";
import { partsOf, readCommandLine } from "./command-line.js";
import { measureFirst } from "./parts/first.js";
import { measureHandOvers, measureLate } from "./parts/hand-over.js";
import { measureMany } from "./parts/many.js";
import { measureMemory } from "./parts/memory.js";
import { measureQuestions } from "./parts/questions.js";
import { countRequests } from "./parts/requests.js";
import { SERVER_KIND, startServer, startThree } from "./servers.js";
import { allSystems, TTL } from "./systems.js";
import { print, type Results } from "./zookeeper-report.js";

const PARTS = ["hand-over", "three", "late", "requests", "first", "many", "questions", "memory"] as const;
const USAGE = `npm run bench -- zookeeper [options]
  --only PART[,PART]      of ${PARTS.join(", ")}; default: all
  --hand-overs N          counted, for each system and number of candidates (300)
  --rest MS               before each hand-over, once all stand again (15)
  --candidates N[,N]      2,10,200
  --systems NAME[,NAME]   those whose name contains one of these; default: all
  --elections N           handed over at once (5000); for memory twice as many
  --in-one-turn N         candidacies that begin in one turn when many are prepared (500)
  --rounds N              of handing them over and back (5)
  --idle SECONDS          how long the idle sessions are watched (30)
  --json FILE             also writes all figures there
TENURE_DIST: the build, or several separated as in PATH, to compare them.
`;

const values = readCommandLine(
  "zookeeper",
  {
    only: { type: "string" },
    "hand-overs": { type: "string", default: "300" },
    rest: { type: "string", default: "15" },
    candidates: { type: "string", default: "2,10,200" },
    systems: { type: "string" },
    elections: { type: "string", default: "5000" },
    "in-one-turn": { type: "string", default: "500" },
    rounds: { type: "string", default: "5" },
    idle: { type: "string", default: "30" },
    json: { type: "string" },
  },
  USAGE,
);
const only = partsOf(PARTS, values.only, USAGE);
const handOvers = Number(values["hand-overs"]);
const rest = Number(values.rest);
const elections = Number(values.elections);
const inOneTurn = Number(values["in-one-turn"]);
const candidates = values.candidates.split(",").map(Number);
const wanted = values.systems?.toLowerCase().split(",");
const needsPeers = only.some((part) => ["hand-over", "three", "late", "requests", "first"].includes(part));
const systems = needsPeers
  ? (await allSystems()).filter(({ name }) => !wanted || wanted.some((word) => name.toLowerCase().includes(word)))
  : [];

const results: Results = {
  about: { ...about(`ZooKeeper 3.9.5, ${SERVER_KIND}; sessions ${TTL} ms`), sessionTimeout: TTL },
};

/** Each part has a server of its own, so that what one leaves behind does not weigh on the next. */
async function on(part: (typeof PARTS)[number], measure: (server: ZooKeeperServer) => Promise<void>): Promise<void> {
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
  results.handOvers = await measureHandOvers(systems, { address: server.address, servers: "one", candidates, handOvers, rest });
});
if (only.includes("three")) {
  const { servers, follower } = await startThree();
  try {
    // Two candidates, as in the field notes; all at one follower.
    results.three = await measureHandOvers(systems, { address: follower.address, servers: "three", candidates: [2], handOvers, rest });
  } finally {
    await Promise.all(servers.map((server) => server.dispose()));
  }
}
await on("late", async (server) => {
  results.late = await measureLate(systems, server.address, handOvers, rest);
});
await on("requests", async (server) => {
  results.requests = await countRequests(systems, server, candidates, Math.min(handOvers, 40));
});
await on("first", async (server) => {
  results.first = await measureFirst(systems, server.address, Math.min(handOvers, 200));
});
await on("many", async (server) => {
  results.many = await measureMany(server, { elections, inOneTurn, rounds: Number(values.rounds) });
});
await on("questions", async (server) => {
  results.questions = await measureQuestions(server.address);
});
await on("memory", async (server) => {
  results.memory = await measureMemory(server, 2 * elections, inOneTurn, Number(values.idle));
});

finish(results, print, values.json);
