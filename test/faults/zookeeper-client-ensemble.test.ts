import { setMaxListeners } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { systemClock } from "../../src/clock.js";
import { connectRequest } from "../support/expire-session.js";
import { startProxy } from "../support/proxy.js";
import { until } from "../support/wait-for.js";
import { startEnsemble } from "../support/zookeeper-ensemble.js";
import { open, rejection, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

const TICK = 2000;
const TTL = 8000;
const GAP = TICK / 2 + 100;
/** From one proof of a session to its next. */
const PACE = TTL / 5;
const SESSIONS = 24;
watchForStrayErrors();

/** A session, and what its proofs have come to. */
class Prover {
  readonly zk: ZooKeeperClient;
  readonly path: string;
  /** What the last proof that was acknowledged vouches for, mono. */
  vouchedAt = 0;
  /** Settles when the newest proof has. */
  newest: Promise<void> = Promise.resolve();

  constructor(zk: ZooKeeperClient, path: string) {
    this.zk = zk;
    this.path = path;
  }

  prove(signal: AbortSignal): Promise<void> {
    this.newest = this.zk.prove("/", GAP, signal).then(
      ({ mono }) => {
        this.vouchedAt = mono;
      },
      () => {},
    );
    return this.newest;
  }

  async keepProving(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      void this.prove(signal);
      await sleep(PACE, undefined, { signal }).catch(() => {});
    }
  }
}

describe("on an ensemble of three", () => {
  it("a proof through a follower vouches for no more than the ensemble leader has heard of, also after a stall", async () => {
    await using ensemble = await startEnsemble({ tickTime: TICK });
    const [follower] = await ensemble.followers();
    const leader = await ensemble.leader();
    if (follower === undefined) throw new Error("no follower");
    const proxy = await startProxy(follower.port);
    onTestFinished(() => proxy.dispose());
    const observer = await open(leader.address, { sessionTimeout: 20_000 });
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    onTestFinished(() => stop.abort());
    const provers = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, i) => {
        await sleep((i * PACE) / SESSIONS);
        const zk = await open(proxy.address, { sessionTimeout: TTL });
        const prover = new Prover(zk, await zk.create(`/s${i}`, Buffer.alloc(0), "ephemeral", soon()));
        void prover.keepProving(stop.signal);
        return prover;
      }),
    );
    await sleep(TTL / 2);
    proxy.hold("up");
    await sleep(PACE + 300);
    proxy.release();
    // What was held back is answered; one more proof is asked for, and answered; the leader has heard of none of them.
    await Promise.all(provers.map(({ newest }) => newest));
    await Promise.all(provers.map((prover) => prover.prove(stop.signal)));
    ensemble.cut(follower);
    await sleep(200);
    const promised = provers.map(({ vouchedAt }) => ({ until: vouchedAt + TTL }));
    const gone = await Promise.all(
      provers.map(async ({ path }) => {
        await until(async () => (await observer.exists(path, soon())) === null, { timeout: 5 * TTL, every: 20, what: `${path} has gone` });
        return systemClock.mono();
      }),
    );
    stop.abort();
    const inHand = gone.map((at, i) => at - (promised[i]?.until ?? 0));
    expect(Math.min(...inHand)).toBeGreaterThan(0);
    // Not by vouching for nothing.
    expect(Math.max(...inHand)).toBeLessThan(TTL + 2 * TICK);
  });

  it("a session that was moved to another server by somebody else leaves the stale connection", async () => {
    await using ensemble = await startEnsemble({ tickTime: 500 });
    const [first, second] = ensemble.servers;
    if (first === undefined || second === undefined) throw new Error("no servers");
    const proxy = await startProxy(first.port);
    onTestFinished(() => proxy.dispose());
    const zk = await open(proxy.address);
    const path = await zk.create("/moved", Buffer.alloc(0), "ephemeral", soon());
    const [session] = proxy.sessions();
    const thief = connect(second.port, "127.0.0.1");
    onTestFinished(() => void thief.destroy());
    thief.write(connectRequest(session));
    await new Promise((resolve) => thief.once("data", resolve));
    const outcome = await zk.setData(path, Buffer.alloc(1), -1, soon()).catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: "connection-lost" });
    await zk.setData(path, Buffer.alloc(2), -1, soon());
    expect(proxy.requests("connect")).toBe(2);
    expect((await zk.getData(path, soon())).stat.ephemeralOwner).toBe(zk.sessionId);
  });

  it("a server that has no quorum opens nothing, and the next one is taken", async () => {
    await using ensemble = await startEnsemble({ tickTime: 500 });
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error("no follower");
    ensemble.cut(follower);
    const zk = await open([follower.address, (await ensemble.leader()).address], { connectTimeout: 5000 }, inOrder);
    await zk.prove("/", 100, soon());
    expect(await rejection(open(follower.address, { connectTimeout: 1000 }))).toMatchObject({ code: "unreachable" });
  });
});

/** The machine's clock, with servers tried in the order in which they are given. */
const inOrder = {
  mono: () => systemClock.mono(),
  wall: () => systemClock.wall(),
  after: (ms: number, fn: () => void) => systemClock.after(ms, fn),
  random: () => 0.5,
};
