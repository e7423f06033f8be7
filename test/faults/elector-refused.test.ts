import { createHash } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { Elector, StoreError } from "../../src/index.js";
import { fresh } from "../support/names.js";
import { PATIENCE, until, within } from "../support/wait-for.js";
import { Candidate } from "./support/candidate.js";
import { lineUp } from "./support/line.js";
import { startMuteServer } from "./support/mute-server.js";

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
    const { error } = await stranger.next("stopped", 0);
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
    const entry = await line.view.entryOf("b");
    await a.stop();
    expect(a.all("warning").map(({ error }) => (error as StoreError).code)).toContain("auth");
    // Its entry went with its session, which was closed: it has not expired.
    expect(await line.view.entries()).toEqual([entry]);
    await b.next("elected", waiting);
    await allow("cdrwa");
  });
});

describe("a server that accepts and never answers", () => {
  it("is told of", async () => {
    await using mute = await startMuteServer();
    await using candidate = new Candidate({ store: { servers: mute.address, root: "/any", connectTimeout: 300 }, id: "a" });
    const { error } = await candidate.start().next("warning", 0);
    expect(error).toMatchObject({ code: "unreachable", transient: true });
    expect(error?.message).toContain(mute.address);
  });

  it("is left at once by stop()", async () => {
    await using mute = await startMuteServer();
    const connectTimeout = 2 * PATIENCE;
    const candidate = new Candidate({ store: { servers: mute.address, root: "/any", connectTimeout }, id: "a" }).start();
    await until(() => mute.connections === 1, { what: "the candidate has connected" });
    await within(candidate.stop(), connectTimeout / 2, "the candidate stops");
    await mute.deserted();
  });

  it("does not keep a candidate from the next server", async () => {
    await using mute = await startMuteServer();
    const store = { servers: [mute.address, mute.address, server], root: `/${fresh("mute")}`, connectTimeout: 3000 };
    await using candidate = new Candidate({ store, id: "a" });
    await candidate.start().next("elected", 0);
    expect(candidate.count("warning")).toBe(0);
  });
});
