import { afterEach, onTestFinished } from "vitest";
import { connectZooKeeper } from "../../adapters/zookeeper/client/zookeeper-client.js";
import type { ClientOptions, ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { type Clock, systemClock, type Timer } from "../../src/clock.js";
import { PATIENCE } from "../support/wait-for.js";

export const OPEN_TO_ALL = [{ permissions: "cdrwa", scheme: "world", id: "anyone" }];

/** Long enough for anything that is meant to happen. */
export function soon(): AbortSignal {
  return AbortSignal.timeout(PATIENCE);
}

export function clientOptions(servers: readonly string[], options: Partial<ClientOptions> = {}): ClientOptions {
  return {
    servers,
    chroot: "",
    sessionTimeout: 10_000,
    connectTimeout: 5000,
    readTimeout: null,
    tls: null,
    auth: [],
    acl: OPEN_TO_ALL,
    ...options,
  };
}

/** A session that is given up when the test has ended. */
export async function open(
  servers: string | readonly string[],
  options: Partial<ClientOptions> = {},
  clock: Clock = systemClock,
): Promise<ZooKeeperClient> {
  const client = await connectZooKeeper(clientOptions([servers].flat(), options), clock, soon());
  onTestFinished(() => client.destroy());
  return client;
}

/** What a promise rejects with; fails if it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    (resolved) => ({ resolved }),
    (error: unknown) => ({ error }),
  );
  if ("error" in value) return value.error;
  throw new Error(`expected a rejection, got ${JSON.stringify(value.resolved, (_, v) => (typeof v === "bigint" ? `${v}n` : v))}`);
}

/** Whether it has settled by now, after all that is on its way in this process. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => (done = true),
    () => (done = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}

/** The machine's clock, counting the timers that wait. */
export class CountingClock implements Clock {
  /** What the timers were set for, ms. */
  readonly delays: number[] = [];
  readonly #timers = new Set<object>();

  get pending(): number {
    return this.#timers.size;
  }

  mono(): number {
    return systemClock.mono();
  }

  wall(): number {
    return systemClock.wall();
  }

  random(): number {
    return systemClock.random();
  }

  after(ms: number, fn: () => void): Timer {
    const key = {};
    this.delays.push(ms);
    this.#timers.add(key);
    const timer = systemClock.after(ms, () => {
      this.#timers.delete(key);
      fn();
    });
    return {
      cancel: () => {
        this.#timers.delete(key);
        timer.cancel();
      },
    };
  }
}

/** Collects the warnings that Node gives while a test runs. */
export function warnings(): string[] {
  const seen: string[] = [];
  const note = (warning: Error) => seen.push(`${warning.name}: ${warning.message}`);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  return seen;
}

/** Fails a test in which something was thrown where nobody could catch it, such as in the handler of a socket. */
export function watchForStrayErrors(): void {
  const stray: unknown[] = [];
  const note = (error: unknown) => stray.push(error);
  process.on("uncaughtExceptionMonitor", note);
  afterEach(() => {
    if (stray.length > 0) throw new Error("something was thrown past everybody", { cause: stray.splice(0)[0] });
  });
}
