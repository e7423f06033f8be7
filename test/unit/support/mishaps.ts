import type { MemoryCall, MemoryClient } from "../../../adapters/memory/index.js";
import type { Elector } from "../../../src/elector.js";
import type { ManualClock } from "../../../src/manual-clock.js";
import type { World } from "./world.js";

/** What happens, for the story; and what makes it happen. */
export type Mishap = readonly [string, () => void | Promise<void>];

/** Whom a mishap befalls. */
export interface Befall {
  readonly elector: Elector;
  readonly client: MemoryClient;
  readonly clock: ManualClock;
  readonly world: World;
  pick<T>(from: readonly T[]): T;
}

const LOSABLE: readonly MemoryCall[] = ["look", "claim", "withdraw", "prepare", "prove", "touch", "close"];

/** What every run has in store; what heals comes twice. `up`: the store is not stopped. */
export function mishapsOf(befall: Befall, up: boolean): Mishap[] {
  const { elector, client, clock, pick } = befall;
  return [
    ["is cut off", () => client.partition()],
    ["is reached again", () => client.heal()],
    ["is reached again", () => client.heal()],
    ["has its connection broken", () => client.reset()],
    [
      "is paused",
      () => {
        clock.pause();
        client.holdReplies();
      },
    ],
    [
      "goes on",
      () => {
        client.release();
        return clock.resume();
      },
    ],
    ["goes on, timers first", () => clock.resume().then(() => client.release())],
    ["has its replies held", () => client.holdReplies()],
    ["has its requests held", () => client.holdRequests()],
    ["has everything released", () => client.release()],
    ["has everything released", () => client.release()],
    ["is far away, and then cut off", () => farAway(befall)],
    ["loses a reply", () => client.loseReply(pick(LOSABLE), pick(["connection-lost", "silence"] as const))],
    ["loses a request", () => client.failNext(pick(LOSABLE))],
    ["resigns", () => elector.resign()],
    ["resigns", () => elector.resign()],
    ["is served by a stranded server", () => void (up && client.strand())],
    ["is served by a connected server", () => client.unstrand()],
    ["has its wall clock set forward", () => clock.stepWall(pick([500, 5000]))],
  ];
}

export function stepBack({ clock, pick }: Befall): Mishap {
  return ["has its wall clock set back", () => clock.stepWall(-pick([500, 50_000]))];
}

export function sleepOf({ clock, pick }: Befall): Mishap {
  return ["sleeps", () => clock.suspend(pick([300, 3000, 9000]))];
}

/** What takes a seat away without grace, or what no clock shows. */
export function withoutGrace({ elector, client, clock, world, pick }: Befall): Mishap[] {
  return [
    ["is evicted", () => world.server.evict(elector.id)],
    ["is superseded", () => world.server.supersede(elector.election)],
    ["has its session destroyed", () => client.sessions.forEach((id) => void world.server.expire(id))],
    ["is frozen", () => clock.freeze(pick([300, 6000]))],
  ];
}

/** Answers take long, and then none comes: the deadline must not count from the last one. */
async function farAway({ client, world, pick }: Befall): Promise<void> {
  client.delay(pick([400, 600]));
  await world.clock.advance(pick([1600, 2000, 2400]));
  client.partition();
  await world.clock.advance(5000);
  client.delay(0);
}
