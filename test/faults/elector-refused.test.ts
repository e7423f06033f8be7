import { createHash } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { Elector, StoreError } from "../../src/index.js";
import { fresh } from "../support/names.js";
import { Candidate } from "./support/candidate.js";
import { INTERVAL, lineUp } from "./support/line.js";
import { startMuteServer } from "./support/mute-server.js";
import { now } from "./support/now.js";

const server = inject("zookeeper");

describe("credentials", () => {
  const acl = [{ permissions: "cdrwa", scheme: "digest", id: `owner:${createHash("sha1").update("owner:secret").digest("base64")}` }];

  it.each([
    ["wrong", { auth: "owner:wrong" }],
    ["missing", {}],
    ["of an unknown scheme", { auth: { scheme: "nonsense", credentials: "owner" } }],
  ])("that are %s stop a candidate with an error that names it", async (_, auth) => {
    await using line = await lineUp(server, ["a"], { auth: "owner:secret", acl });
    const store = { ...line.store, acl, auth: [], ...auth };
    const stranger = new Candidate({ store, id: "stranger" }).start();
    const { error } = await stranger.next("stopped", 5000, 0);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: "auth", transient: false });
    expect(error?.message).toMatch(/NOAUTH|AUTHFAILED|refuses the credentials/);
    expect(error?.message).not.toMatch(/secret|wrong/);
    expect(stranger.elector.state).toBe("stopped");

    const leading = new Elector({ store: zookeeper(store), election: "seat" }).lead(() => {});
    await expect(leading).rejects.toMatchObject({ code: "auth" });
    expect(line.all[0]!.isLeader).toBe(true);
  });

  it("that lose their permissions while leading do not keep stop() from ending", async () => {
    await using line = await lineUp(server, ["a", "b"]);
    const [a, b] = line.all as [Candidate, Candidate];
    const allow = (permissions: string) =>
      line.view.raw.allow(`${line.view.path}/candidates`, [{ permissions, scheme: "world", id: "anyone" }]);
    await allow("ra");
    const waiting = b.told.length;
    await a.stop();
    expect(a.all("warning").map(({ error }) => (error as StoreError).code)).toContain("auth");
    // Its entry went with its session.
    await b.next("elected", INTERVAL, waiting);
    await allow("cdrwa");
  });
});

describe("a server that accepts and never answers", () => {
  it("is told of, and left at once by stop()", async () => {
    await using mute = await startMuteServer();
    const candidate = new Candidate({ store: { servers: mute.address, root: "/any", connectTimeout: 300 }, id: "a" }).start();
    const { error } = await candidate.next("warning", 5000, 0);
    expect(error).toMatchObject({ code: "unreachable", transient: true });
    expect(error?.message).toContain(mute.address);
    const stopped = now();
    await candidate.stop();
    expect(now() - stopped).toBeLessThan(300);
    await mute.deserted();
  });

  it("does not keep a candidate from the next server", async () => {
    await using mute = await startMuteServer();
    const store = { servers: [mute.address, mute.address, server], root: `/${fresh("mute")}`, connectTimeout: 300 };
    await using candidate = new Candidate({ store, id: "a" });
    await candidate.start().next("elected", 5000, 0);
    expect(candidate.count("warning")).toBe(0);
  });
});
