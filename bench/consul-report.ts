import { type About, heading } from "./about.js";
import { LOCK_DELAY } from "./consul-systems.js";
import { verdicts } from "./consul-verdicts.js";
import { CRASH_TTL, type Crash } from "./parts/consul-crash.js";
import type { ConsulHandOvers } from "./parts/consul-hand-over.js";
import { CONNECTION_LIMIT, type ConsulManyResult } from "./parts/consul-many.js";
import type { ConsulRequestCount } from "./parts/consul-requests.js";
import { list, ms, pages, section } from "./table.js";

/** All that a run has found; also the JSON file. */
export interface Results {
  about: About;
  handOvers?: readonly ConsulHandOvers[];
  requests?: readonly ConsulRequestCount[];
  crash?: readonly Crash[];
  many?: ConsulManyResult;
}

/** The results as text for a terminal. */
export function print(results: Results): string {
  return pages([
    heading(results.about),
    handOvers(results.handOvers),
    requests(results.requests),
    crash(results.crash),
    many(results.many),
    verdicts(results),
  ]);
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

function crash(found?: readonly Crash[]): string {
  if (!found) return "";
  const how =
    `kill -9 of the process that leads, at random phases of its renewals; five wait in another process (api.Lock's: in one each). From the last ` +
    "renewal that the server granted, when it came by a proxy, to the call of the next one's `elected` listener (the return of Lock). " +
    `Ttl ${CRASH_TTL} ms, lock-delay ${LOCK_DELAY} ms: Consul ends the session ${2 * CRASH_TTL} ms after that renewal.`;
  const rows = found.map((row) => [row.system, row.n, ms(row.min), ms(row.p50), ms(row.max), ms(row.fromKill)]);
  return section("Crash of the leader", how, ["system", "n", "min", "p50", "max", "from the kill, p50"], rows);
}

function many(found?: ConsulManyResult): string {
  if (!found) return "";
  const how =
    "All elections of one process, on one session, stopped in one turn: until the last has been told `elected` in the other process, which stood by in all. " +
    `Connections (of either process, at most), refusals by 429 (the server takes ${CONNECTION_LIMIT} connections from one address, which all processes here share) ` +
    "and requests by a proxy before each process, in a run of its own. After a crash: kill -9 of the process that leads all " +
    `(ttl ${CRASH_TTL} ms); until the last is led in the other process, from the earliest end of the session (${2 * CRASH_TTL} ms after its last renewal came by a proxy) plus the ` +
    `delay (${LOCK_DELAY} ms); in each round.`;
  const rows = found.handedOver.map((row, index) => {
    const traffic = found.traffic[index];
    return [
      row.system,
      row.elections,
      row.n,
      ms(row.p50),
      ms(row.min),
      ms(row.max),
      ms(row.untilStopped),
      row.cpu.map((used) => used.toFixed(0)).join(" / "),
      row.counted.toFixed(2),
      traffic?.requests.toFixed(2),
      traffic?.connections,
      traffic?.refused,
      found.crashes[index]?.late.map((late) => late.toFixed(0)).join(", "),
    ];
  });
  const heads = [
    ...["system", "elections", "n", "p50", "min", "max", "until stopped", "cpu from / to", "raft entries each", "requests each"],
    ...["connections", "refused", "after a crash"],
  ];
  const joins = found.handedOver.map(
    ({ system, joined: [leading, waiting] }) => `${system}, some at a time: all led after ${ms(leading)}, all waiting after ${ms(waiting)}`,
  );
  return `${section("Many elections from one process to another", how, heads, rows)}\n${joins.join("\n")}`;
}
