import { setMaxListeners } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ZooKeeperClient } from "../../adapters/zookeeper/zookeeper-wire.js";
import { type Instant, systemClock } from "../../src/clock.js";
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

interface Proving {
  readonly zk: ZooKeeperClient;
  readonly path: string;
  vouchedAt: Instant;
  /** When the last proof that was acknowledged had been asked for: what a naive rule would count from. */
  askedAt: number;
}

/** Proves at its pace until the connection has gone. */
async function keepProving(session: Proving, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const askedAt = systemClock.mono();
    void session.zk.prove("/", GAP, stop).then(
      (vouchedAt) => Object.assign(session, { vouchedAt, askedAt }),
      () => {},
    );
    await sleep(PACE, undefined, { signal: stop }).catch(() => {});
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
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, i): Promise<Proving> => {
        await sleep((i * PACE) / SESSIONS);
        const zk = await open(proxy.address, { sessionTimeout: TTL });
        const path = await zk.create(`/s${i}`, Buffer.alloc(0), "ephemeral", soon());
        const session = { zk, path, vouchedAt: await zk.prove("/", GAP, soon()), askedAt: systemClock.mono() };
        void keepProving(session, stop.signal);
        return session;
      }),
    );
    await sleep(TTL / 2);
    proxy.hold("up");
    await sleep(PACE + 300);
    proxy.release();
    await sleep(20);
    ensemble.cut(follower);
    // Acknowledged by now, if ever.
    await sleep(200);
    const promised = sessions.map(({ vouchedAt, askedAt }) => ({ until: vouchedAt.mono + TTL, naive: askedAt + TTL }));
    const gone = await Promise.all(
      sessions.map(async ({ path }) => {
        await until(async () => (await observer.exists(path, soon())) === null, { timeout: 5 * TTL, every: 20, what: `${path} has gone` });
        return systemClock.mono();
      }),
    );
    stop.abort();
    const inHand = gone.map((at, i) => at - (promised[i]?.until ?? 0));
    expect(Math.min(...inHand)).toBeGreaterThan(0);
    // Not by never vouching for anything: every promise is of a proof made during the test.
    expect(Math.max(...inHand)).toBeLessThan(TTL + 2 * TICK);
    // The rule is needed: counted from the proofs' own sending, sessions would have ended too early.
    expect(gone.some((at, i) => at < (promised[i]?.naive ?? 0))).toBe(true);
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
    const zk = await open([follower.address, (await ensemble.leader()).address], { connectTimeout: 1000 }, inOrder);
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
