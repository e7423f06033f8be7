import { memory } from "../../adapters/memory/index.js";
import { type Clock, sleep } from "../clock.js";
import { Ledger, Player, type Tell } from "./demo-cast.js";

/** What the story claims, and whether it happened. */
export interface Claim {
  readonly text: string;
  readonly held: boolean;
}

/** The session timeout of the demonstration, ms: short, so that nobody has to wait. */
export const DEMO_TTL = 2000;

const NEVER = new AbortController().signal;
/** For one step, ms; longer than any step takes. */
const LONGEST_STEP = 5000;

/** Plays the story; `title` announces its parts. Resolves with what came of it. */
export async function play(clock: Clock, tell: Tell, title: (text: string) => void): Promise<Claim[]> {
  const claims: Claim[] = [];
  const claim = (text: string, held: boolean) => void claims.push({ text, held });
  const store = memory({ ttl: DEMO_TTL, latency: 2 });
  const ledger = new Ledger();
  const players = ["anna", "ben", "cleo"].map((name) => new Player(store.client(name), clock, ledger, tell));
  const leaders = () => players.filter(({ elector }) => elector.isLeader);
  const until = async (condition: () => boolean) => {
    const begun = clock.mono();
    while (!condition() && clock.mono() - begun < LONGEST_STEP) await sleep(clock, 5, NEVER);
    return condition();
  };
  const next = async (before: Player | undefined): Promise<Player | undefined> => {
    await until(() => leaders().some((player) => player !== before));
    return leaders().find((player) => player !== before);
  };
  const linger = (ms: number) => sleep(clock, ms, NEVER);

  title("Three candidates stand for one seat");
  for (const player of players) {
    player.elector.start();
    await linger(100);
  }
  const first = await next(undefined);
  await linger(900);
  claim("one of three leads, and only one", first !== undefined && leaders().length === 1);

  title("The leader resigns: the next in line takes over at once");
  const resigned = clock.mono();
  first?.elector.resign();
  const second = await next(first);
  const handOver = (second?.electedAt ?? Number.NaN) - resigned;
  tell("", `the hand-over took ${handOver.toFixed(0)} ms, no timeout involved`);
  claim("a clean hand-over does not wait for a timeout", handOver < DEMO_TTL / 4);
  await linger(900);

  title("The leader's process dies: its session has to run out first");
  const died = clock.mono();
  tell(second?.name ?? "?", "† kill -9");
  second?.die();
  const third = await next(second);
  const failover = (third?.electedAt ?? Number.NaN) - died;
  tell("", `the successor came after ${failover.toFixed(0)} ms (session timeout: ${DEMO_TTL} ms)`);
  claim("after a crash there is a leader again within the session timeout and a little", failover < DEMO_TTL + 500);
  await linger(700);

  title("The leader is cut off from the store, and a write of its term is still on its way");
  const late = { fence: third?.elector.term?.fence ?? 0n, who: third?.name ?? "?" };
  third?.client.partition();
  tell("", `${late.who} cannot reach the store any more, and does not know it yet`);
  const fourth = await next(third);
  const earlier = (fourth?.electedAt ?? Number.NaN) - (third?.overAt ?? Number.NaN);
  tell("", `${late.who} had stopped leading, by its own clock, ${earlier.toFixed(0)} ms before`);
  claim("the leader that was cut off stopped before its successor began", earlier > 0);
  await until(() => ledger.highest === fourth?.elector.term?.fence);
  const accepted = ledger.write(late.fence, late.who);
  tell(
    "ledger",
    `${late.who}'s late write arrives with fence ${late.fence}: ${accepted ? "accepted" : `rejected, fence ${ledger.highest} has written already`}`,
  );
  claim("the late write was rejected", fourth !== undefined && !accepted);
  await linger(500);

  title("The network heals: the former leader stands again, at the tail");
  third?.client.heal();
  const healed = await until(() => third?.elector.state === "standby");
  claim("the former leader stands by again", healed && leaders().length === 1);
  await linger(500);

  title("Everybody stops");
  await Promise.all(players.filter((player) => player !== second).map(({ elector }) => elector.stop()));
  const fences = ledger.lines.map(({ fence }) => fence);
  claim(
    "the ledger saw the terms in order",
    fences.length > 0 && fences.every((fence, index) => index === 0 || fence >= (fences[index - 1] ?? 0n)),
  );
  return claims;
}
