import { type About, heading } from "./about.js";
import { verdicts } from "./consul-verdicts.js";
import type { ConsulHandOvers } from "./parts/consul-hand-over.js";
import type { ConsulRequestCount } from "./parts/consul-requests.js";
import { list, ms, pages, section } from "./table.js";

/** All that a run has found; also the JSON file. */
export interface Results {
  about: About;
  handOvers?: readonly ConsulHandOvers[];
  requests?: readonly ConsulRequestCount[];
}

/** The results as text for a terminal. */
export function print(results: Results): string {
  return pages([heading(results.about), handOvers(results.handOvers), requests(results.requests), verdicts(results)]);
}

function handOvers(found?: readonly ConsulHandOvers[]): string {
  if (!found) return "";
  const how =
    "From the call of resign() to the call of the next one's `elected` listener; from the call of Unlock to the return of Lock. By one " +
    "process's monotonic clock: all candidates of a system are in one process, each with a session and connections of its own. The systems " +
    "take turns on the same server, in chunks, and only the one whose turn it is has candidates there. Who has left stands again at once. " +
    "Each leads for `hold` (tenure's: from when the one before stands again), so that api.Lock's herd has settled.";
  const rows = found.map((row) => [
    row.system,
    row.candidates,
    row.hold,
    row.n,
    ms(row.p50),
    ms(row.p90),
    ms(row.p99),
    ms(row.max),
    ms(row.ratio),
  ]);
  return section("Clean hand-over", how, ["system", "candidates", "hold", "n", "p50", "p90", "p99", "max", "to api.Lock"], rows);
}

function requests(found?: readonly ConsulRequestCount[]): string {
  if (!found) return "";
  const how =
    "HTTP requests by a proxy before the server, raft entries by its last_log_index, each system alone on a server, between two moments of " +
    "rest; the old leader's standing again included. Apart, and not in the figures: renewals, sweeps (transactions that only check), " +
    "deletions of letters (and their raft entries), and queries that are asked anew since their wait was over.";
  const rows = found.map((row) => [row.system, row.candidates, row.handOvers, row.perHandOver, row.raft]);
  const lists = found.flatMap((row) => [
    `${row.system}, ${row.candidates} candidates: ${list(row.requests)}`,
    `    apart: ${list(row.apart) || "none"}`,
  ]);
  return `${section("Requests a hand-over", how, ["system", "candidates", "n", "requests", "raft entries"], rows)}\n${lists.join("\n")}`;
}
