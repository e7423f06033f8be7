import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectRaw } from "./raw-session.js";
import { until } from "./wait-for.js";
import { startEnsemble, type ZooKeeperEnsemble } from "./zookeeper-ensemble.js";

describe("an ensemble", () => {
  let ensemble: ZooKeeperEnsemble;
  beforeAll(async () => {
    ensemble = await startEnsemble({ tickTime: 1_000, syncLimit: 4 });
  });
  afterAll(() => ensemble.dispose());

  it("answers at a follower that is cut off, though it cannot commit, and takes it back", async () => {
    const leader = await ensemble.leader();
    const [follower, other] = await ensemble.followers();
    if (!follower || !other) throw new Error("no followers");
    await using writer = await connectRaw(leader.address);
    const cutOff = await connectRaw(follower.address, { sessionTimeout: 4_000 });
    await writer.create("/before");
    await cutOff.sync();
    expect(await cutOff.exists("/before")).not.toBe(null);

    await using reader = await connectRaw(follower.address, { sessionTimeout: 20_000 });
    ensemble.cut(follower);
    await writer.create("/after");
    const proof = cutOff.sync().then(
      () => "committed",
      () => "lost",
    );
    // It gives up syncLimit (4 s) after it last heard from the leader, which speaks each half tick.
    let answers = 0;
    await until(
      async () => {
        if (!reader.connected) return true;
        expect(await reader.exists("/after")).toBe(null);
        answers++;
        return false;
      },
      { what: "the follower gives up" },
    );
    expect(answers).toBeGreaterThan(0);
    expect(await proof).toBe("lost");

    ensemble.heal(follower);
    await follower.serving();
    await using back = await connectRaw(follower.address);
    await back.sync();
    expect(await back.exists("/after")).not.toBe(null);
    await cutOff.close();
  });

  it("replaces a leader that is cut off, and takes it back as a follower", async () => {
    const deposed = await ensemble.leader();
    const others = ensemble.servers.filter((server) => server !== deposed);
    ensemble.cut(deposed);
    const modes = () => Promise.all(others.map((server) => server.mode().catch(() => undefined)));
    await until(async () => (await modes()).includes("leader"), { what: "the others have a leader" });
    ensemble.heal(deposed);
    await until(async () => (await deposed.mode()) === "follower", { what: "the deposed leader follows" });
  });
});
