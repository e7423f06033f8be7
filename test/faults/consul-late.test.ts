import { describe, expect, it } from "vitest";
import { hold } from "../support/http-proxy-rules.js";
import * as requests from "./support/consul-requests.js";
import { givenUp, Scene } from "./support/consul-scene.js";

/*
 * A request that we gave up may still commit later, after a consistent look that did not show it: behind a frozen server leader
 * 10 of 10 did. So each carries a check that makes it harmless then.
 */
describe.concurrent("a late commit", () => {
  it("of a join leaves no place that nobody stands for, when the candidate has joined again", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    await scene.leader("leader");
    const candidate = scene.contend("late", await scene.open(proxy));
    const late = proxy.rule(requests.join, hold);
    await givenUp(late, (signal) => candidate.contender.look(signal));
    expect((await candidate.look()).kind).toBe("behind");
    await late.release();
    expect(late.requests[0]).toMatchObject({ status: 409 });
    expect(await scene.queue()).toEqual(["late"]);
  });

  it("of a join leaves no place that nobody stands for, when the candidate has withdrawn", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    await scene.leader("leader");
    const candidate = scene.contend("late", await scene.open(proxy));
    const late = proxy.rule(requests.join, hold);
    await givenUp(late, (signal) => candidate.contender.look(signal));
    await candidate.withdraw();
    await late.release();
    expect(late.requests[0]).toMatchObject({ status: 409 });
    expect(await scene.queue()).toEqual([]);
  });

  it("of a claim takes no seat when the candidate has withdrawn", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const candidate = await scene.join("late", proxy);
    const late = proxy.rule(requests.claim, hold);
    const place = candidate.place;
    if (place?.kind !== "head") throw new Error("not head");
    await givenUp(late, (signal) => candidate.contender.claim(place, signal));
    await candidate.withdraw();
    await late.release();
    expect(late.requests[0]).toMatchObject({ status: 409 });
    expect(await scene.holder()).toBeNull();
    await scene.leader("next");
  });

  it("of a claim takes no seat after a look that was to find out what came of it", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const candidate = await scene.join("late", proxy);
    const late = proxy.rule(requests.claim, hold);
    const place = candidate.place;
    if (place?.kind !== "head") throw new Error("not head");
    await givenUp(late, (signal) => candidate.contender.claim(place, signal));
    expect((await candidate.look()).kind).toBe("head");
    await late.release();
    expect(late.requests[0]).toMatchObject({ status: 409 });
    expect(await scene.holder()).toBeNull();
    // What it knows is true still: it may claim.
    const { fence } = await candidate.claim();
    expect(await scene.fence()).toBe(fence);
  });

  it("of a withdrawal removes nothing when the candidate stands again", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader");
    const session = await scene.open(proxy);
    const candidate = await scene.join("late", session);
    const late = proxy.rule(requests.withdrawal, hold);
    await givenUp(late, (signal) => candidate.contender.withdraw("hand-over", signal));
    await candidate.withdraw();
    const again = await scene.join("late", session);
    await late.release();
    expect(await scene.queue()).toEqual(["late"]);
    await leader.withdraw();
    await scene.served(again);
  });

  it("of the freeing of a seat does not free it under the next leader of the same session", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const session = await scene.open(proxy);
    const first = await scene.leader("first", session);
    const late = proxy.rule(requests.free, hold);
    await givenUp(late, (signal) => first.contender.withdraw("hand-over", signal));
    await first.withdraw();
    const second = await scene.leader("second", session);
    await late.release();
    expect(late.requests[0]).toMatchObject({ status: 409 });
    expect(await scene.holder()).toBe(session.id);
    expect((await second.held()).fence).toBe(await scene.fence());
  });

  it("of a hand-over does not take the seat from the next leader of the same session", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const session = await scene.open(proxy);
    const first = await scene.leader("first", session);
    const waiter = await scene.join("waiter");
    const late = proxy.rule(requests.handOver, hold);
    await givenUp(late, (signal) => first.contender.withdraw("hand-over", signal));
    await first.withdraw("free");
    // The waiter is first: only once it has led and gone can the other one lead.
    await scene.served(waiter);
    const second = await scene.join("second", session);
    await waiter.withdraw();
    const fence = await scene.served(second);
    await late.release();
    expect(late.requests[0]).toMatchObject({ status: 409 });
    expect(await scene.fence()).toBe(fence);
    expect((await second.held()).fence).toBe(fence);
  });

  it("of a hand-over that names somebody who has gone seats nobody", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader", proxy);
    const waiter = await scene.join("waiter");
    const late = proxy.rule(requests.handOver, hold);
    const withdrawing = leader.contender.withdraw("hand-over", scene.signal);
    await late.hit;
    await waiter.withdraw();
    await late.release();
    await withdrawing;
    expect(await scene.holder()).toBeNull();
    expect(await scene.queue()).toEqual([]);
    await scene.leader("next");
  });

  it("of a letter wakes and does no more", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader");
    const middle = await scene.join("middle", proxy);
    const last = await scene.join("last");
    const late = proxy.rule(requests.letter, hold);
    await givenUp(late, (signal) => middle.contender.withdraw("hand-over", signal));
    await middle.withdraw();
    await last.moved();
    expect((await last.look()).kind).toBe("behind");
    await late.release();
    await last.moved();
    expect((await last.look()).kind).toBe("behind");
    await leader.withdraw();
    expect(await scene.served(last)).toBe(await scene.fence());
  });
});
