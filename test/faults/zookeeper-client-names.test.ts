import { describe, expect, inject, it } from "vitest";
import { fresh } from "../support/names.js";
import { open, rejection, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

const server = inject("zookeeper");
const text = (value: string) => Buffer.from(value);
watchForStrayErrors();

describe("a chroot", () => {
  it("is put before every path, and taken off every answer", async () => {
    const outside = await open(server);
    const chroot = `/${fresh("chroot")}`;
    const zk = await open(server, { chroot });
    expect(await rejection(zk.getChildren("/", soon()))).toMatchObject({ zk: "NONODE" });
    expect(await zk.create("/", text("top"), "persistent", soon())).toBe("/");
    expect((await outside.getData(chroot, soon())).data.toString()).toBe("top");
    const watch = zk.watch("children", "/", soon());
    const missing = zk.watch("exists", "/a-0000000000", soon());
    await Promise.all([watch.armed, missing.armed]);
    expect(await zk.create("/a-", text(""), "ephemeral-sequential", soon())).toBe("/a-0000000000");
    await Promise.all([watch.fired, missing.fired]);
    const results = await zk.multi(
      [
        { op: "create", path: "/b-", data: text(""), mode: "ephemeral-sequential" },
        { op: "setData", path: "/", data: text("new"), version: 0 },
        { op: "check", path: "/a-0000000000", version: 0 },
        { op: "delete", path: "/a-0000000000", version: 0 },
      ],
      soon(),
    );
    expect(results).toMatchObject(["/b-0000000001", { version: 1 }, null, null]);
    await zk.sync("/", soon());
    await zk.prove("/", 100, soon());
    expect((await outside.getChildren(chroot, soon())).children).toEqual(["b-0000000001"]);
    expect((await zk.getChildren("/", soon())).children).toEqual(["b-0000000001"]);
  });
});

describe("credentials and ACLs", () => {
  it("keep others out, and let their owner in", async () => {
    const acl = [{ permissions: "cdrwa", scheme: "auth", id: "" }];
    const owner = await open(server, { auth: [{ scheme: "digest", credentials: "ann:secret" }], acl });
    const path = await owner.create(`/${fresh("acl")}`, text("x"), "persistent", soon());
    expect((await owner.getData(path, soon())).data.toString()).toBe("x");
    const other = await open(server, { auth: [{ scheme: "digest", credentials: "bob:secret" }] });
    expect(await rejection(other.getData(path, soon()))).toMatchObject({ zk: "NOAUTH", code: "auth", transient: false });
    expect(other.ended.aborted).toBe(false);
    await owner.delete(path, -1, soon());
  });

  it("give each permission by its letter", async () => {
    const zk = await open(server, { acl: [{ permissions: "cr", scheme: "world", id: "anyone" }] });
    const path = await zk.create(`/${fresh("acl")}`, text("x"), "persistent", soon());
    await zk.getData(path, soon());
    await zk.create(`${path}/child`, text(""), "ephemeral", soon());
    expect(await rejection(zk.setData(path, text(""), -1, soon()))).toMatchObject({ zk: "NOAUTH" });
    expect(await rejection(zk.delete(`${path}/child`, -1, soon()))).toMatchObject({ zk: "NOAUTH" });
  });

  it("that no server can hold are refused", async () => {
    const zk = await open(server, { acl: [{ permissions: "r", scheme: "auth", id: "" }] });
    expect(await rejection(zk.create(`/${fresh("acl")}`, text(""), "persistent", soon()))).toMatchObject({
      zk: "INVALIDACL",
      code: "auth",
    });
  });

  it("of a scheme that the server does not know end the attempt to open", async () => {
    const error = await rejection(open(server, { auth: [{ scheme: "nonsense", credentials: "x" }] }));
    expect(error).toMatchObject({ code: "auth", transient: false });
    expect(String(error)).toContain("nonsense");
  });
});
