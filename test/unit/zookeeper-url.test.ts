import { describe, expect, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { readOptions, type ZooKeeperOptions } from "../../adapters/zookeeper/zookeeper-options.js";
import { ConfigError } from "../../src/errors.js";

describe("store URLs of ZooKeeper", () => {
  it("reads everything that a URL can say", () => {
    const nobody = expect.objectContaining({ guarded: false });
    const url =
      "zookeeper://zk1:2181,zk2:2182,[::1]:2183/app/x?sessionTimeout=20s&tickTime=2s&root=/elections&connectTimeout=250ms&readTimeout=1m";
    expect(readOptions(url)).toEqual({
      chroot: "/app/x",
      base: "/app/x/elections",
      tickTime: 2000,
      name: "zookeeper://zk1:2181,zk2:2182,[::1]:2183/app/x/elections",
      identity: nobody,
      client: {
        servers: ["zk1:2181", "zk2:2182", "[::1]:2183"],
        chroot: "",
        sessionTimeout: 20_000,
        connectTimeout: 250,
        readTimeout: 60_000,
        tls: null,
        auth: [],
        acl: [{ permissions: "cdrwa", scheme: "world", id: "anyone" }],
      },
    });
  });

  it("has defaults for everything but the servers", () => {
    const { client, identity, ...rest } = readOptions("zookeeper://zk1");
    expect(identity).toMatchObject({ name: expect.stringContaining("no auth"), guarded: false });
    expect(rest).toEqual({ chroot: "", base: "/tenure", tickTime: null, name: "zookeeper://zk1:2181/tenure" });
    expect(client).toMatchObject({ servers: ["zk1:2181"], sessionTimeout: 15_000, connectTimeout: 5000, readTimeout: null });
  });

  it("reads a bare list of hosts as the URL of the same hosts and chroot", () => {
    expect(readOptions("h1:2181,h2:2181/app")).toEqual(readOptions("zookeeper://h1:2181,h2:2181/app"));
    expect(readOptions("h1")).toEqual(readOptions("zookeeper://h1"));
  });

  it("reads options as the URL that says the same", () => {
    const options: ZooKeeperOptions = {
      servers: ["h1:2181", "h2"],
      chroot: "/app",
      root: "/r",
      sessionTimeout: "8s",
      tickTime: 2000,
      auth: "me:s/e@c",
    };
    expect(readOptions(options)).toEqual(readOptions("zookeeper://me:s%2Fe%40c@h1:2181,h2/app?root=/r&sessionTimeout=8s&tickTime=2s"));
    expect(readOptions({ ...options, servers: "h1,h2:2181" })).toEqual(readOptions(options));
  });

  it("takes the top of the tree as chroot and root", () => {
    expect(readOptions("zookeeper://h1/?root=/")).toMatchObject({ base: "", name: "zookeeper://h1:2181" });
  });

  it("takes digest credentials and never shows them", () => {
    const settings = readOptions("zookeeper://me:p%3Aa%20ss@h1:2181/app");
    expect(settings.client.auth).toEqual([{ scheme: "digest", credentials: "me:p:a ss" }]);
    expect(settings.name).toBe("zookeeper://h1:2181/app/tenure");
    expect(zookeeper("zookeeper://me:hush@h1").name).toBe("zookeeper://h1:2181/tenure");
  });

  it.each([
    ["zookeeper://me:hush/hush@h1:2181", "percent-encode"],
    ["zookeeper://me:hush?hush@h1:2181", "percent-encode"],
    ["zookeeper://me:hush#hush@h1:2181", "%23"],
    ["zookeeper://me:%hush@h1:2181", "percent-encoded"],
    ["zookeeper://mehush@h1:2181", "user:password@"],
    ["zookeeper://:hush@h1:2181", "user:password@"],
    ["me:hush@h1:2181", "credentials"],
    [{ servers: "me:hush@h1:2181" }, "auth"],
    [{ servers: "h1", auth: "hush" }, "user:password"],
    [{ servers: "h1", auth: { scheme: "digest", credentials: "hush" } }, "user:password"],
    [{ servers: "h1", auth: [{ scheme: "", credentials: "hush" }] }, "user:password"],
  ])("refuses credentials of a wrong form without showing them: %j", (given, hint) => {
    const { message } = refusal(given as string);
    expect(message).toContain(hint);
    expect(message).not.toContain("hush");
  });

  it("names an identity without its password", () => {
    const auth = ["ann:hush:hush", { scheme: "sasl", credentials: "hush" }];
    expect(readOptions({ servers: "h1", auth } as ZooKeeperOptions).identity).toMatchObject({ name: "digest:ann, sasl", guarded: true });
  });

  it("reads an acl as a text, a list, or what the creator is", () => {
    const hash = "Xw7Yl3bC+a/p0o9i8u7y6t5r4e3=";
    const listed = (acl: ZooKeeperOptions["acl"], auth = "me:too") => readOptions({ servers: "h1", auth, acl: acl as string }).client.acl;
    expect(listed("creator")).toEqual([{ permissions: "cdrwa", scheme: "auth", id: "" }]);
    const text = `digest:ann:${hash}:cdrw,x509:CN=zk,O=a:b,C=eu:r,ip:::1:cd,auth::rw`;
    const list = [
      { permissions: "cdrw", scheme: "digest", id: `ann:${hash}` },
      { permissions: "r", scheme: "x509", id: "CN=zk,O=a:b,C=eu" },
      { permissions: "cd", scheme: "ip", id: "::1" },
      { permissions: "rw", scheme: "auth", id: "" },
    ];
    expect(listed(text)).toEqual(list);
    expect(listed(list)).toEqual(list);
    expect(readOptions(`zookeeper://h1?acl=digest:ann:${encodeURIComponent(hash)}:r`)).toMatchObject({
      client: { acl: [{ id: `ann:${hash}` }] },
      identity: { guarded: true },
    });
  });

  it("does not show what may be a password where a hash was expected", () => {
    for (const acl of ["digest:ann:hush:cdrw", "digest:hush:r", [{ permissions: "r", scheme: "digest", id: "ann:hush" }]]) {
      const { message } = refusal({ servers: "h1", acl } as ZooKeeperOptions);
      expect(message).toContain("SHA-1");
      expect(message).not.toContain("hush");
    }
  });

  it.each([
    ["", "servers"],
    ["zookeeper://", "servers"],
    ["zookeeper://h1,,h2", "servers"],
    ["zookeeper://h1:", "servers"],
    ["zookeeper://h1:0", "servers"],
    ["zookeeper://h1:65536", "servers"],
    ["zookeeper://h1:21a", "servers"],
    ["zookeeper://::1:2181", "servers"],
    ["zookeeper://h1 :2181", "servers"],
    ["consul://h1:8500", "store"],
    ["https://h1:8500", "store"],
    ["h1:2181?sessionTimeout=5s", "store"],
    ["zookeeper://h1/app/", "chroot"],
    ["zookeeper://h1//app", "chroot"],
    ["zookeeper://h1/../app", "chroot"],
    ["zookeeper://h1/app%00", "chroot"],
    ["zookeeper://h1/app%7F", "chroot"],
    ["zookeeper://h1/%F0%9F%8E%89", "chroot"],
    [{ servers: "h1", chroot: "/\ud800" }, "chroot"],
    [{ servers: "h1", chroot: "/\uf8ff" }, "chroot"],
    ["zookeeper://h1?root=tenure", "root"],
    ["zookeeper://h1?root=", "root"],
    ["zookeeper://h1?session=5s", "session"],
    ["zookeeper://h1?sessiontimeout=5s", "sessiontimeout"],
    ["zookeeper://h1?sessionTimeout=15", "sessionTimeout"],
    ["zookeeper://h1?sessionTimeout=0s", "sessionTimeout"],
    ["zookeeper://h1?sessionTimeout=1000h", "sessionTimeout"],
    ["zookeeper://h1?tickTime=2s&tickTime=3s", "tickTime"],
    [{ servers: [] }, "servers"],
    [{ servers: [42] }, "servers"],
    [{}, "servers"],
    [{ servers: "h1", sesionTimeout: 5 }, "sesionTimeout"],
    [{ servers: "h1", sessionTimeout: -1 }, "sessionTimeout"],
    [{ servers: "h1", chroot: "app" }, "chroot"],
    [{ servers: "h1", chroot: 7 }, "chroot"],
    [{ servers: "h1", acl: [] }, "acl"],
    [{ servers: "h1", acl: [null] }, "acl"],
    [{ servers: "h1", acl: "" }, "acl"],
    [{ servers: "h1", acl: "creator" }, "acl"],
    [{ servers: "h1", acl: "creator,world:anyone:r", auth: "a:b" }, "acl"],
    [{ servers: "h1", acl: "world:anyone" }, "acl"],
    [{ servers: "h1", acl: "world:anyone:r,,world:anyone:r" }, "acl"],
    [{ servers: "h1", acl: "world:anyone:rr" }, "acl"],
    [{ servers: "h1", acl: "world:anyone:cdwa" }, "acl"],
    [{ servers: "h1", acl: { permissions: "r" } }, "acl"],
    ["zookeeper://h1?acl=world:anyone:r&acl=world:anyone:r", "acl"],
    ["zookeeper://h1?acl=digest:ann:Xw7Yl3bC+a/p0o9i8u7y6t5r4e3=:r", "acl"],
    [{ servers: "h1", acl: [{ permissions: "rx", scheme: "world", id: "anyone" }] }, "acl"],
    [{ servers: "h1", acl: [{ permissions: "rr", scheme: "world", id: "anyone" }] }, "acl"],
    [{ servers: "h1", acl: [{ permissions: "r", scheme: "", id: "anyone" }] }, "acl"],
    [null, "store"],
    [["h1"], "store"],
    [7, "store"],
  ])("refuses %j, naming the option %s", (given, option) => {
    expect(refusal(given as string)).toMatchObject({ code: "config", option });
  });
});

function refusal(given: string | ZooKeeperOptions): ConfigError {
  try {
    zookeeper(given);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error as ConfigError;
  }
  throw new Error("was not refused");
}
