import { type About, heading } from "./about.js";
import type { First } from "./parts/first.js";
import type { HandOvers } from "./parts/hand-over.js";
import type { ManyResult } from "./parts/many.js";
import type { Memory } from "./parts/memory.js";
import type { Question } from "./parts/questions.js";
import type { RequestCount } from "./parts/requests.js";
import { list, ms, pages, type Row, section } from "./table.js";
import { verdicts } from "./zookeeper-verdicts.js";

/** All that a run has found; also the JSON file. */
export interface Results {
  /** `sessionTimeout`: ms, of every system. */
  about: About & { readonly sessionTimeout: number };
  handOvers?: readonly HandOvers[];
  three?: readonly HandOvers[];
  late?: readonly HandOvers[];
  requests?: readonly RequestCount[];
  first?: readonly First[];
  many?: ManyResult;
  questions?: readonly Question[];
  memory?: readonly Memory[];
}

/** The results as text for a terminal. */
export function print(results: Results): string {
  return pages([
    heading(results.about),
    handOvers("Clean hand-over, one server", results.handOvers),
    handOvers("Clean hand-over, three servers, clients at a follower", results.three),
    handOvers("Clean hand-over to one that has waited for long, one server", results.late, LATE),
    requests(results.requests),
    first(results.first),
    many(results.many),
    questions(results.questions),
    memory(results.memory),
    verdicts(results),
  ]);
}

const LATE =
  "Two candidates in each election, nothing happens for 13 s, then one hand-over: tenure's deadline is stale by then, so a proof goes out " +
  "with the look and is waited for. ";
const AGAIN =
  "At once: who leaves stands again by itself, and its requests compete with the next one's (resign(); close() and a new latch; autoRequeue(); " +
  "acquire() in a loop). Later: when the next one leads (stop() and start(); a new latch; requeue(); acquire()). ";

function handOvers(title: string, found?: readonly HandOvers[], what = AGAIN): string {
  if (!found) return "";
  const how =
    what +
    "From the call of resign(), stop(), close() or release(), or just before the return of the leader's function, to the call of the next " +
    "one's listener or function, by one process's monotonic clock. One process a system, a session for each candidate, all systems on the " +
    "same server at the same time, taking turns. Cpu: of its process, standing again and rest included.";
  const rows = found.map((row) => [
    row.system,
    row.candidates,
    row.again,
    row.n,
    ms(row.p50),
    ms(row.p99),
    ms(row.max),
    row.cpu?.toFixed(1),
    row.ratio === null ? "" : ms(row.ratio),
  ]);
  return section(title, how, ["system", "candidates", "again", "n", "p50", "p99", "max", "cpu each", "to LeaderLatch"], rows);
}

function requests(found?: readonly RequestCount[]): string {
  if (!found) return "";
  const how =
    "By the server's zk_packets_received, asking for it calibrated out, while leaders leave one after the other and do not stand again; minus " +
    "pings, touches and proofs (as a tap before the server lists them; received and listed must agree). The last column: all but upkeep, by the tap, standing again included.";
  const rows = found.map((row) => [
    row.system,
    row.candidates,
    row.handOvers,
    row.perHandOver,
    row.received,
    row.listed,
    row.withStandingAgain,
  ]);
  const lists = found.flatMap((row) => [
    `${row.system}, ${row.candidates} candidates: ${list(row.requests)}. Upkeep: ${list(row.upkeep) || "none"}`,
    `    with standing again: ${list(row.requestsStandingAgain)}`,
  ]);
  const heads = ["system", "candidates", "n", "requests", "received", "listed", "with standing again"];
  return `${section("Requests a hand-over", how, heads, rows)}\n${lists.join("\n")}`;
}

function first(found?: readonly First[]): string {
  if (!found) return "";
  const how =
    "From standing to leading on an open session, where nobody else stands. Fresh: the election's nodes are made; used: they are there.";
  const rows = found.map((row) => [row.system, row.names, row.n, ms(row.p50), ms(row.p99), ms(row.max)]);
  return section("First in an empty election", how, ["system", "election", "n", "p50", "p99", "max"], rows);
}

function many(found?: ManyResult): string {
  if (!found) return "";
  const how =
    "All elections of one process, on one session, stopped in one turn: until the last has been told `elected` in the other process, which stood by in all. " +
    "The anchor: pipelined single setData (100 bytes) on the same server in the same run; the quickest way counts.";
  const rows: Row[] = [
    ...found.handedOver.map((row) => [
      row.system,
      `${row.elections} elections`,
      row.n,
      ms(row.p50),
      ms(row.min),
      ms(row.max),
      ms(row.untilStopped),
      row.cpu.map((used) => used.toFixed(0)).join(" / "),
      row.counted.toFixed(2),
      ms(row.ratio),
    ]),
    ...found.anchors.map((row) => [
      row.way,
      `${row.writes} writes`,
      row.n,
      ms(row.p50),
      ms(row.min),
      ms(row.max),
      "",
      "",
      "",
      row === found.anchor ? "1 (anchor)" : "",
    ]),
  ];
  const heads = ["", "what", "n", "p50", "min", "max", "until stopped", "cpu from / to", "requests each", "to the anchor"];
  const joins = found.handedOver.map(
    ({ system, joined: [leading, waiting] }) => `${system}, some at a time: all led after ${ms(leading)}, all waiting after ${ms(waiting)}`,
  );
  return `${section("Many elections from one process to another", how, heads, rows)}\n${joins.join("\n")}`;
}

function questions(found?: readonly Question[]): string {
  if (!found) return "";
  const how =
    "ns: median (and least) of 41 batches of 100,000 calls, loop included; bytes: growth of the heap over 100,000 calls without a collection, and after one.";
  const rows = found.map((row) => [
    row.system,
    row.what,
    row.ns.toFixed(0),
    row.leastNs.toFixed(0),
    row.allocated.toFixed(1),
    row.retained.toFixed(3),
  ]);
  return section("Questions to a term", how, ["system", "question", "ns", "least", "bytes allocated", "bytes retained"], rows);
}

function memory(found?: readonly Memory[]): string {
  if (!found) return "";
  const how =
    "kB an election, all on one session: of RSS, and of heap with external memory, after garbage collection, minus the same process with one election. " +
    "Idle: requests a second of both sessions by the server's counter, and what a tap listed of each.";
  const kB = (bytes: number) => (bytes / 1000).toFixed(2);
  const rows = found.flatMap((row): Row[] => [
    [row.system, "waiting", row.elections, kB(row.waiting.rss), kB(row.waiting.heap), kB(row.waiting.reserved)],
    [row.system, "leading", row.elections, kB(row.leading.rss), kB(row.leading.heap), kB(row.leading.reserved)],
  ]);
  const idle = found.map(
    ({ system, idle }) =>
      `${system}, idle for ${idle.seconds} s: ${idle.received.toFixed(2)} requests a second; the one that leads: ${list(idle.leading)}; the one that waits: ${list(idle.waiting)}`,
  );
  return `${section("Memory and idle traffic", how, ["system", "", "elections", "RSS", "heap", "heap reserved"], rows)}\n${idle.join("\n")}`;
}
