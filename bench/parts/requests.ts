import { setTimeout as sleep } from "node:timers/promises";
import type { ZooKeeperServer } from "../../test/support/zookeeper-server.js";
import type { Peer } from "../peer.js";
import { say } from "../run.js";
import { PacketCounter } from "../servers.js";
import type { System } from "../systems.js";
import { tally } from "../table.js";
import { isUpkeep, Tap } from "../tap.js";

/** What one system asks of the server for a hand-over. */
export interface RequestCount {
  readonly system: string;
  readonly candidates: number;
  readonly handOvers: number;
  /** Requests a hand-over by the server's own counter, without pings, touches and proofs; the old leader does not stand again. */
  readonly perHandOver: number;
  /** As the server counted, upkeep included. */
  readonly received: number;
  /** As the tap listed; equal to `received` unless something went past it. */
  readonly listed: number;
  /** How many of each a hand-over. */
  readonly requests: Record<string, number>;
  /** Pings, touches and proofs, each a hand-over. */
  readonly upkeep: Record<string, number>;
  /** With the old leader standing again: all requests but upkeep, a hand-over. */
  readonly withStandingAgain: number;
  readonly requestsStandingAgain: Record<string, number>;
}

const ROOT = "/bench/counted";
/** ms for what follows a hand-over (watches, standing again) to be over. */
const PAUSE = 60;

/** One system after the other, alone on the server, behind a tap. */
export async function countRequests(
  systems: readonly System[],
  server: ZooKeeperServer,
  sizes: readonly number[],
  handOvers: number,
): Promise<RequestCount[]> {
  const counter = await PacketCounter.of(server);
  const results: RequestCount[] = [];
  for (const [index, system] of systems.entries()) {
    const root = `${ROOT}${index}`;
    const tap = await Tap.before(server.port, root);
    const peer = system.start(`127.0.0.1:${tap.port}`, root, server.address);
    try {
      for (const candidates of sizes) results.push(await countOne(peer, system.name, tap, counter, candidates, handOvers));
    } finally {
      await peer.quit();
      tap.dispose();
    }
  }
  return results;
}

async function countOne(
  peer: Peer,
  system: string,
  tap: Tap,
  counter: PacketCounter,
  candidates: number,
  wanted: number,
): Promise<RequestCount> {
  const listed: string[] = [];
  let received = 0;
  let done = 0;
  // Whoever leaves does not stand again, so that nothing of that is counted; a queue that is used up is filled anew.
  while (done < wanted) {
    await peer.ask("stand", candidates, candidates, "later");
    await sleep(500);
    const count = Math.min(candidates - 1, wanted - done);
    tap.take();
    received += await counter.during(async () => {
      await peer.ask("depart", count, PAUSE);
      await sleep(PAUSE);
      listed.push(...tap.take());
    });
    done += count;
    await peer.ask("leave");
  }
  const upkeep = listed.filter(isUpkeep);
  await peer.ask("stand", candidates, candidates, "at-once");
  await sleep(500);
  tap.take();
  await peer.ask("hand", wanted, PAUSE);
  const again = tap.take().filter((request) => !isUpkeep(request));
  await peer.ask("leave");
  const each = (requests: string[]) =>
    Object.fromEntries(Object.entries(tally(requests)).map(([name, count]) => [name, round(count / done)]));
  const result = {
    system,
    candidates,
    handOvers: done,
    perHandOver: round((received - upkeep.length) / done),
    received,
    listed: listed.length,
    requests: each(listed.filter((request) => !isUpkeep(request))),
    upkeep: each(upkeep),
    withStandingAgain: round(again.length / done),
    requestsStandingAgain: each(again),
  };
  say(`requests: ${system}, ${candidates} candidates: ${result.perHandOver} a hand-over (with standing again ${result.withStandingAgain})`);
  return result;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
