import { describe, expect, inject, it } from "vitest";
import type { ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { fresh } from "../support/names.js";
import { open, rejection, settled, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

const server = inject("zookeeper");
const text = (value: string) => Buffer.from(value);
watchForStrayErrors();

/** A session, and a node of its own. */
async function withRoot(): Promise<{ zk: ZooKeeperClient; root: string }> {
  const zk = await open(server);
  return { zk, root: await zk.create(`/${fresh("client")}`, text("root"), "persistent", soon()) };
}

describe("watches", () => {
  type Change = (zk: ZooKeeperClient, path: string) => Promise<unknown>;
  const add: Change = (zk, path) => zk.create(`${path}/c`, text(""), "persistent", soon());
  const write: Change = (zk, path) => zk.setData(path, text("!"), -1, soon());
  const remove: Change = (zk, path) => zk.delete(path, -1, soon());
  it.each([
    ["children", "create a child", add],
    ["children", "delete the node", remove],
    ["data", "write", write],
    ["data", "delete the node", remove],
    ["exists", "write", write],
    ["exists", "delete the node", remove],
  ] as const)("on %s fire: %s", async (kind, _what, change) => {
    const { zk, root } = await withRoot();
    const watch = zk.watch(kind, root, soon());
    await watch.armed;
    expect(await settled(watch.fired)).toBe(false);
    await change(await open(server), root);
    await watch.fired;
  });

  it("for what does not exist yet fire when it comes", async () => {
    const { zk, root } = await withRoot();
    const watch = zk.watch("exists", `${root}/later`, soon());
    await watch.armed;
    await zk.create(`${root}/later`, text(""), "persistent", soon());
    await watch.fired;
  });

  it("on children are not used up by a write", async () => {
    const { zk, root } = await withRoot();
    const watch = zk.watch("children", root, soon());
    const other = zk.watch("data", root, soon());
    await Promise.all([watch.armed, other.armed]);
    await zk.setData(root, text("!"), -1, soon());
    await other.fired;
    expect(await settled(watch.fired)).toBe(false);
    await zk.create(`${root}/c`, text(""), "persistent", soon());
    await watch.fired;
  });

  it.each(["children", "data"] as const)("on %s of what does not exist reject and leave nothing", async (kind) => {
    const { zk, root } = await withRoot();
    const watch = zk.watch(kind, `${root}/none`, soon());
    expect(await rejection(watch.armed)).toMatchObject({ zk: "NONODE" });
    await zk.create(`${root}/none`, text(""), "persistent", soon());
    await zk.setData(`${root}/none`, text("!"), -1, soon());
    await zk.delete(`${root}/none`, -1, soon());
    expect(await settled(watch.fired)).toBe(false);
  });

  it("that were let go of, before or after they were armed, do not fire", async () => {
    const { zk, root } = await withRoot();
    const [before, after, kept] = [zk.watch("data", root, soon()), zk.watch("data", root, soon()), zk.watch("data", root, soon())];
    before.release();
    await Promise.all([before.armed, after.armed, kept.armed]);
    after.release();
    await zk.setData(root, text("!"), -1, soon());
    await kept.fired;
    expect(await settled(before.fired)).toBe(false);
    expect(await settled(after.fired)).toBe(false);
  });
});
