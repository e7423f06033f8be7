import { afterEach, describe, expect, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { Elector } from "../../src/elector.js";
import { ConfigError, StoppedError, StoreError } from "../../src/errors.js";
import type { Term } from "../../src/term.js";
import { watch } from "./support/watch.js";
import { World } from "./support/world.js";

let world = new World();
afterEach(() => world.end());

describe("what a newcomer tries", () => {
  it("elected() while a term drains is the next term, and rejects once the elector has stopped", async () => {
    world = new World();
    const { elector } = world.candidate("a");
    let finish = () => {};
    elector.once("elected", (term) => term.waitUntil(new Promise<void>((resolve) => (finish = resolve))));
    elector.start();
    await world.clock.settle();
    const first = elector.term as Term;
    elector.resign();
    const next = watch(elector.elected());
    await world.clock.settle();
    expect(next.outcome).toBeNull();
    finish();
    await world.clock.advance(10);
    expect(next.outcome).toMatchObject({ value: { number: first.number + 1 } });
    await elector.stop();
    await expect(elector.elected()).rejects.toBeInstanceOf(StoppedError);
  });

  it("needs is a length of time, as a number or a text; anything else is refused by name", async () => {
    world = new World();
    const { elector } = world.candidate("a");
    elector.start();
    await world.clock.settle();
    const term = elector.term as Term;
    term.assertValid("5s");
    expect(() => term.assertValid("1h")).toThrow(/less than/);
    expect(await term.guard(() => 7, { needs: "1s" })).toBe(7);
    for (const wrong of [Number.NaN, -1, "abc", {}, null]) expect(() => term.assertValid(wrong as number)).toThrow(ConfigError);
  });

  it("an event that does not exist is refused by name", () => {
    world = new World();
    const { elector } = world.candidate("a");
    expect(() => elector.on("electd" as "elected", () => {})).toThrow(/expected one of standby, elected/);
  });

  it("an error that nobody listens for is a process warning", async () => {
    world = new World();
    const client = world.server.client("a");
    client.refuse(new StoreError("auth", "no entry for you"));
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    new Elector({ store: client, election: "seat", clock: world.clock }).start();
    await world.clock.settle();
    expect((await warned).message).toBe("no entry for you");
  });

  it("a list of servers with spaces after commas is read, and an acl that means nobody is refused", () => {
    expect(zookeeper({ servers: "zk1:2181, zk2" }).name).toBe("zookeeper://zk1:2181,zk2:2181/tenure");
    const acl = [{ permissions: "cdrwa", scheme: "auth", id: "" }];
    expect(() => zookeeper({ servers: "zk1", acl })).toThrow(/needs the option auth/);
  });
});
