import { expect, it } from "vitest";
import { StoreError } from "../../src/errors.js";
import { observe } from "../../src/observer.js";
import { World } from "./support/world.js";

it.each([false, true])(
  "stop() of an elector that may not delete its entry settles; with an observer on the same store value: %s",
  async (withObserver) => {
    const world = new World();
    const a = world.candidate("a");
    a.tap.around = (call, pass) => (call.name === "withdraw" ? Promise.reject(new StoreError("auth", "no DELETE")) : pass());
    const observer = withObserver ? observe(a.tap, "other", { clock: a.clock }) : null;
    a.elector.start();
    await world.clock.advanceUntil(() => a.elector.isLeader, 5000);
    let _stopped = false;
    void a.elector.stop().then(() => {
      _stopped = true;
    });
    await world.clock.advance(600_000);
    const { state } = a.elector;
    a.tap.around = (_, pass) => pass();
    await world.clock.advance(10_000);
    let closed = observer === null;
    void observer?.close().then(() => {
      closed = true;
    });
    await world.clock.advanceUntil(() => closed, 20_000);
    await world.end();
    expect(state).toBe("stopped");
  },
);
