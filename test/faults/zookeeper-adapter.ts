import { inject, onTestFinished } from "vitest";
import { connectZooKeeper } from "../../adapters/zookeeper/client/zookeeper-client.js";
import { readOptions, type ZooKeeperOptions } from "../../adapters/zookeeper/zookeeper-options.js";
import type { ZooKeeperHandle } from "../../adapters/zookeeper/zookeeper-places.js";
import { ZooKeeperStore } from "../../adapters/zookeeper/zookeeper-store.js";
import { systemClock } from "../../src/clock.js";
import type { Card, Contender, HeadPlace, HeldPlace, Place, Session } from "../../src/store.js";
import { fresh } from "../support/names.js";
import { type FaultProxy, startProxy } from "../support/proxy.js";
import { connectRaw, type RawSession } from "../support/raw-session.js";
import { PATIENCE } from "../support/wait-for.js";

/** Of one attempt; longer than any of these tests needs. */
export const soon = () => AbortSignal.timeout(PATIENCE);

/** The place that a test expects, or an error that shows what came. */
export function expectPlace<K extends Place["kind"]>(place: Place, kind: K): Extract<Place, { kind: K }> {
  if (place.kind !== kind) throw new Error(`expected ${kind}, got ${place.kind}`);
  return place as Extract<Place, { kind: K }>;
}

/** An election of its own on the shared server, and whoever takes part in it. */
export class Arena {
  readonly root = `/${fresh("adapter")}`;
  readonly election = "e";
  readonly candidates = `${this.root}/e/candidates`;
  readonly term = `${this.root}/e/term`;
  readonly address = inject("zookeeper");

  async open(options: Partial<ZooKeeperOptions> = {}): Promise<Session> {
    const store = new ZooKeeperStore(
      readOptions({ servers: this.address, root: this.root, sessionTimeout: "10s", ...options }),
      connectZooKeeper,
    );
    const session = await store.open({ clock: systemClock }, soon());
    onTestFinished(() => session.close(soon()).catch(() => {}));
    return session;
  }

  /** A candidate on a session of its own. */
  async candidate(id: string, options: Partial<ZooKeeperOptions> = {}): Promise<Contender> {
    return (await this.open(options)).contend(this.election, card(id), null);
  }

  /** A candidate that leads, and its place. */
  async leader(id: string): Promise<{ contender: Contender; place: HeldPlace }> {
    const contender = await this.candidate(id);
    return { contender, place: await claimed(contender) };
  }

  /** A candidate behind a proxy. */
  async proxied(id: string): Promise<{ contender: Contender; proxy: FaultProxy; session: Session }> {
    const proxy = await startProxy(Number(this.address.split(":")[1]));
    onTestFinished(() => proxy.dispose());
    const session = await this.open({ servers: proxy.address });
    return { contender: session.contend(this.election, card(id), null), proxy, session };
  }

  /** Another client. */
  async raw(): Promise<RawSession> {
    const raw = await connectRaw(this.address);
    onTestFinished(() => raw.close());
    return raw;
  }

  /** The names of the entries, in order of creation. */
  async entries(raw: RawSession): Promise<string[]> {
    const names = await raw.children(this.candidates);
    return names.sort((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
  }
}

export function card(id: string): Card {
  return { id, metadata: { zone: `of ${id}` } };
}

/** Looks, and claims the free seat. */
export async function claimed(contender: Contender): Promise<HeldPlace> {
  const place = await contender.look(soon());
  if (place.kind === "held") return place;
  const held = await contender.claim(expectPlace(place, "head") as HeadPlace, soon());
  if (held.kind !== "held") throw new Error("the claim was refused");
  return held;
}

export function handle(place: HeldPlace): ZooKeeperHandle {
  return place.handle as ZooKeeperHandle;
}

/** Whether `promise` is still pending after everything that is on its way has had its time. */
export async function isPending(promise: Promise<unknown>, after: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const mark = () => (settled = true);
  promise.then(mark, mark);
  await after;
  await new Promise((resolve) => setImmediate(resolve));
  return !settled;
}
