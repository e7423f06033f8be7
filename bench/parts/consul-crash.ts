import { setTimeout as sleep } from "node:timers/promises";
import { type ApiLock, holdApiLock } from "../../test/support/api-lock.js";
import type { ConsulServer } from "../../test/support/consul-server.js";
import { type HttpProxy, startHttpProxy } from "../../test/support/http-proxy.js";
import { lastRenewal } from "../consul-renewals.js";
import { LOCK_DELAY, REFERENCE } from "../consul-systems.js";
import { tenurePeer } from "../node-peer.js";
import { type Build, builds } from "../places.js";
import { say } from "../run.js";
import { median, type Spread, spread } from "../statistics.js";

/** How long nobody led after leaders were killed: ms from the dead one's last renewal to the next one's code. */
export interface Crash extends Spread {
  readonly system: string;
  /** From the kill, at random phases of the renewals; the median. */
  readonly fromKill: number;
}

/** Of the sessions, ms. */
export const CRASH_TTL = 10_000;
const WAITERS = 5;

/** A candidate that leads behind a proxy, and those that wait, without one. */
interface Scene {
  kill(): Promise<void>;
  /** When the next one leads, ms of the monotonic clock. */
  next(): Promise<number>;
  quit(): Promise<void>;
}

type Setting = (proxy: HttpProxy, server: ConsulServer, place: string) => Promise<Scene>;

/** In each round the leaders of all systems are killed in the same moment, at whatever phase of their renewals. */
export async function measureConsulCrash(server: ConsulServer, rounds: number, withApiLock: boolean): Promise<Crash[]> {
  const settings = new Map<string, Setting>(builds().map((build) => [build.name, tenure(build)]));
  if (withApiLock) settings.set(REFERENCE, apiLock);
  const times = new Map([...settings.keys()].map((name) => [name, { fromRenewal: [] as number[], fromKill: [] as number[] }]));
  for (let round = 1; round <= rounds; round++) {
    const scenes = await Promise.all(
      [...settings].map(async ([name, setting], index) => {
        const proxy = await startHttpProxy(server.ports.http);
        return { name, proxy, scene: await setting(proxy, server, `bench/crash-${round}-${index}`) };
      }),
    );
    try {
      // Until each has renewed its session (api.Lock does after half a ttl), and at a random phase of the next renewals.
      await sleep(CRASH_TTL / 2 + 500 + Math.random() * 3000);
      await Promise.all(
        scenes.map(async ({ name, proxy, scene }) => {
          const next = scene.next();
          const killed = Number(process.hrtime.bigint()) / 1e6;
          await scene.kill();
          const at = await next;
          const took = at - lastRenewal(proxy);
          times.get(name)?.fromRenewal.push(took);
          times.get(name)?.fromKill.push(at - killed);
          say(`crash, round ${round} of ${rounds}: ${name}: ${took.toFixed(0)} ms from the last renewal`);
        }),
      );
    } finally {
      await Promise.all(scenes.map(({ scene }) => scene.quit()));
      await Promise.all(scenes.map(({ proxy }) => proxy.dispose()));
    }
  }
  return [...times].map(([system, { fromRenewal, fromKill }]) => ({ system, ...spread(fromRenewal), fromKill: median(fromKill) }));
}

function tenure(build: Build): Setting {
  return async (proxy, server, root) => {
    const start = (what: string, address: string) =>
      tenurePeer(`${build.name} ${what}`, "tenure-hand", build, { store: "consul", address, root, ttl: CRASH_TTL });
    const leader = start("leader", proxy.address);
    const waiters = start("waiters", server.address);
    await leader.ask("stand", 1, 1, "at-once", "none");
    await waiters.ask("join", WAITERS);
    return {
      kill: () => leader.kill(),
      next: async () => (await waiters.numbers("next"))[0] as number,
      quit: async () => {
        await waiters.ask("leave").finally(() => Promise.all([leader.kill(), waiters.quit()]));
      },
    };
  };
}

const apiLock: Setting = async (proxy, server, place) => {
  const options = { ttl: `${CRASH_TTL}ms`, delay: `${LOCK_DELAY}ms` };
  const leader = await holdApiLock(proxy.address, `${place}/lock`, options);
  await leader.event("held");
  const waiters: ApiLock[] = [];
  for (let i = 0; i < WAITERS; i++) waiters.push(await holdApiLock(server.address, `${place}/lock`, options));
  return {
    kill: () => leader.kill(),
    // Twice the ttl, the delay, and the 5 s for which it sleeps before it asks again.
    next: async () => (await Promise.race(waiters.map((waiter) => waiter.event("held", 2 * CRASH_TTL + 30_000)))).at / 1e6,
    quit: async () => {
      await Promise.all([leader, ...waiters].map((lock) => lock.kill()));
    },
  };
};
