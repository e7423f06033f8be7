import { describe, expect, it } from "vitest";
import { hold } from "../support/http-proxy-rules.js";
import * as requests from "./support/consul-requests.js";
import { Scene } from "./support/consul-scene.js";

/** Any number of times. */
const ALWAYS = { times: Number.POSITIVE_INFINITY };

describe.concurrent("a seat that is handed to a candidate", () => {
  it("which withdraws at that moment goes to the one behind it (the withdrawal first)", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader", proxy);
    const [next, last] = [await scene.join("next"), await scene.join("last")];
    const handing = proxy.rule(requests.handOver, hold);
    const withdrawing = leader.withdraw();
    await handing.hit;
    await next.withdraw();
    await handing.release();
    await withdrawing;
    expect(handing.requests[0]).toMatchObject({ status: 409 });
    await scene.served(last);
    expect(await scene.queue()).toEqual([]);
  });

  it("which withdraws at that moment goes to the one behind it (the hand-over first)", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader");
    const [next, last] = [await scene.join("next", proxy), await scene.join("last")];
    const leaving = proxy.rule(requests.withdrawal, hold);
    const withdrawing = next.withdraw();
    await leaving.hit;
    await leader.withdraw();
    await leaving.release();
    await withdrawing;
    expect(leaving.requests[0]).toMatchObject({ status: 409 });
    const fence = await scene.served(last);
    expect(await scene.fence()).toBe(fence);
    expect(await scene.holder()).toBe(last.session.id);
  });

  it("which withdraws with nobody behind it, and whose withdrawal comes after the hand-over, is free", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const next = await scene.join("next");
    await leader.withdraw();
    // It has not looked since: it takes itself for a waiter.
    await next.withdraw();
    expect(await scene.holder()).toBeNull();
    await scene.leader("another");
  });

  it("whose process has crashed is that one's until its session ends, and then the next one's", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const [next, last] = [await scene.join("next"), await scene.join("last")];
    next.session.abandon();
    await leader.withdraw();
    expect(await scene.holder()).toBe(next.session.id);
    // The end by ttl is a destroy as well.
    await scene.destroy(next.session);
    await scene.served(last);
  });

  it("whose session has ended already goes to the next one", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const [next, last] = [await scene.join("next"), await scene.join("last")];
    await leader.contender.prepare(scene.signal);
    await scene.destroy(next.session);
    await leader.withdraw();
    await scene.served(last);
  });

  it("whose process is frozen is led by it when it is back, while its session lives", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader");
    const next = await scene.join("next", proxy);
    proxy.blackhole();
    await leader.withdraw();
    await proxy.restore();
    expect(await scene.served(next)).toBe(await scene.fence());
  });

  it("by a letter that comes late, after a look has told it, is entered once", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader");
    const next = await scene.join("next", proxy);
    const mail = proxy.rule(requests.mail, hold, ALWAYS);
    proxy.hangUp();
    await mail.hit;
    await leader.withdraw();
    const { fence } = await next.held();
    await scene.remove("leader");
    await mail.release();
    // The letter names its place and its fence, but is older than what it has seen: it makes no leader.
    expect((await next.look()).kind).toBe("gone");
    expect(fence).toBe(await scene.fence());
  });

  it("and taken away by an operator between the hand-over and the letter is lost again at once, and the debt is paid", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader");
    const next = await scene.join("next", proxy);
    const mail = proxy.rule(requests.mail, hold, ALWAYS);
    proxy.hangUp();
    await mail.hit;
    await leader.withdraw();
    // Both wait for the other one: only a debt that is paid ends that.
    const again = await scene.join("again", leader.session);
    await scene.remove("leader");
    await mail.release();
    await next.moved();
    // What it does not know yet, it knows a round trip later, without asking for it.
    expect((await next.look()).kind).toBe("held");
    await next.contender.unseated(scene.signal);
    expect((await next.look()).kind).toBe("gone");
    await next.withdraw();
    await scene.served(again);
  });
});

describe.concurrent("a letter", () => {
  it("of an earlier term makes no leader of another candidate of that process", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const session = await scene.open(proxy);
    const [leader, first] = [await scene.leader("leader"), await scene.join("first", session)];
    const mail = proxy.rule(requests.mail, hold, ALWAYS);
    proxy.hangUp();
    await mail.hit;
    await leader.withdraw();
    await first.held();
    const [second, last] = [await scene.join("second"), await scene.join("last", session)];
    await first.withdraw();
    await mail.release();
    expect((await last.look()).kind).toBe("behind");
    await scene.served(second);
  });

  it("that another candidate of its process has seen the cause of still wakes whom it is for", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const session = await scene.open(proxy);
    const leader = await scene.leader("leader");
    const [first, second] = [await scene.join("first", session), await scene.join("second", session)];
    const mail = proxy.rule(requests.mail, hold, ALWAYS);
    proxy.hangUp();
    await mail.hit;
    await leader.withdraw();
    // The second one sees a state that is newer than the letter for the first one.
    expect((await second.look()).kind).toBe("behind");
    await mail.release();
    await scene.served(first);
  });

  it("that says the same as the one before wakes as well", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const [a, b, last] = [await scene.join("a"), await scene.join("b"), await scene.join("last")];
    for (const each of [b, a]) {
      await each.withdraw();
      await last.moved();
      await last.look();
    }
    await scene.destroy(leader.session);
    await scene.served(last);
  });

  it("that comes while the one before is deleted is not deleted unread", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const [leader, middle] = [await scene.leader("leader"), await scene.join("middle")];
    const waiter = await scene.join("waiter", proxy);
    const deleting = proxy.rule(requests.deletion, hold);
    const box = `${scene.prefix}/_mail/${waiter.session.id}`;
    for (let count = 1; count < 32; count++) await scene.put(`${box}/other-${count}`, "look", `?acquire=${waiter.session.id}`);
    await middle.withdraw();
    await waiter.moved();
    expect((await waiter.look()).kind).toBe("behind");
    await deleting.hit;
    const mail = proxy.rule(requests.mail, hold, ALWAYS);
    proxy.hangUp();
    await mail.hit;
    await leader.withdraw();
    await deleting.release();
    await mail.release();
    await scene.served(waiter);
    // The others have been deleted all the same: at once, and the one that had been written anew with the next.
    await scene.becomes("the letters are deleted", async () => (await scene.list(`${box}/other-`)).length === 0);
  });
});

describe.concurrent("the debt rule:", () => {
  it("who is evicted tells the first, who waits for its session", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const next = await scene.join("next");
    await scene.remove("leader");
    await leader.contender.unseated(scene.signal);
    expect((await leader.look()).kind).toBe("gone");
    await leader.withdraw();
    await scene.served(next);
  });

  it("who was seated and evicted before it knew tells the first", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const next = await scene.join("next");
    await leader.withdraw();
    const again = await scene.join("again", leader.session);
    await scene.remove("leader");
    await next.withdraw();
    await scene.served(again);
  });

  it("who finds its place gone tells the one behind it", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const middle = await scene.join("middle");
    const last = await scene.join("last");
    const [place] = (await scene.keys("queue/")).filter(({ session }) => session === middle.session.id);
    await scene.erase(place!.key);
    expect((await middle.look()).kind).toBe("gone");
    await middle.withdraw();
    await last.moved();
    await last.look();
    await scene.destroy(leader.session);
    await scene.served(last);
  });

  it("whose hand-over is refused since the seat is not its own any more tells the first", async () => {
    await using scene = new Scene();
    const leader = await scene.leader("leader");
    const next = await scene.join("next");
    await leader.contender.prepare(scene.signal);
    await scene.remove("leader");
    await leader.withdraw();
    await scene.served(next);
  });

  it("who frees its seat tells whoever has joined between its look and that, also when it was refused", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader", proxy);
    const freeing = proxy.rule(requests.free, hold);
    const withdrawing = leader.withdraw();
    await freeing.hit;
    const waiter = await scene.join("waiter");
    expect(waiter.place?.kind).toBe("behind");
    await freeing.release();
    await withdrawing;
    await scene.served(waiter);

    const again = proxy.rule(requests.free, hold);
    await waiter.contender.prepare(scene.signal);
    const other = await scene.leaderIn("other", proxy);
    const leaving = other.withdraw();
    await again.hit;
    const late = scene.contend("late", await scene.open(), null, "other");
    expect((await late.look()).kind).toBe("behind");
    await scene.erase(`${scene.prefix}/other/leader`);
    await again.release();
    await leaving;
    await scene.served(late);
  });

  it("a letter that fails is repeated until it is there", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader");
    const [middle, last] = [await scene.join("middle", proxy), await scene.join("last")];
    proxy.rule(requests.letter, { kind: "answer", status: 500, headers: {}, body: "rpc error" }, { times: 2 });
    for (let tries = 0; tries < 2; tries++) await expect(middle.withdraw()).rejects.toMatchObject({ code: "rejected", transient: true });
    await middle.withdraw();
    await last.moved();
    await last.look();
    await scene.destroy(leader.session);
    await scene.served(last);
  });
});

describe.concurrent("what is checked:", () => {
  it("of two candidates of one session, one leads", async () => {
    await using scene = new Scene();
    const session = await scene.open();
    const first = await scene.leader("first", session);
    const second = await scene.join("second", session);
    expect(second.place?.kind).toBe("behind");
    expect((await first.held()).fence).toBe(await scene.fence());
    await first.withdraw();
    expect(await scene.served(second)).toBe(await scene.fence());
  });

  it("a claim and a hand-over are refused when the term was written meanwhile: numbers go on from there", async () => {
    await using scene = new Scene();
    const leader = await scene.join("leader");
    const place = leader.place;
    if (place?.kind !== "head") throw new Error("not head");
    const { number } = await leader.claim();
    const next = await scene.join("next");
    await leader.contender.prepare(scene.signal);
    const imported = async (to: number) => {
      const [term] = await scene.keys("term");
      await scene.put(term!.key, JSON.stringify({ ...(JSON.parse(term!.value) as object), number: to }));
    };
    await imported(number + 10);
    await leader.withdraw();
    await scene.served(next);
    expect((await next.held()).number).toBe(number + 11);

    await next.withdraw();
    const last = await scene.join("last");
    const seen = last.place;
    if (seen?.kind !== "head") throw new Error("not head");
    await imported(number + 20);
    expect(await last.contender.claim(seen, scene.signal)).toEqual({ kind: "refused", wait: 0 });
    expect((await last.claim()).number).toBe(number + 21);
  });

  it("a foreign client that locks between the freeing and the letter delays the first, and no more", async () => {
    await using scene = new Scene();
    const proxy = await scene.proxy();
    const leader = await scene.leader("leader", proxy);
    const freeing = proxy.rule(requests.free, hold);
    const telling = proxy.rule(requests.letter, hold);
    const withdrawing = leader.withdraw();
    await freeing.hit;
    const waiter = await scene.join("waiter");
    await freeing.release();
    await telling.hit;
    const foreign = await scene.open();
    expect(await scene.put(`${scene.base}/leader`, "theirs", `?acquire=${foreign.id}`)).toBe("true");
    await telling.release();
    await withdrawing;
    await waiter.moved();
    expect((await waiter.look()).kind).toBe("behind");
    expect(await scene.put(`${scene.base}/leader`, "theirs", `?release=${foreign.id}`)).toBe("true");
    await scene.served(waiter);
  });
});
