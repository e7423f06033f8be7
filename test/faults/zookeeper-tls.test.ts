import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { connectZooKeeper } from "../../adapters/zookeeper/client/zookeeper-client.js";
import { FramedSocket } from "../../adapters/zookeeper/client/zookeeper-client-socket.js";
import { type ZooKeeperTls, zookeeper } from "../../adapters/zookeeper/index.js";
import { readTls } from "../../adapters/zookeeper/zookeeper-tls.js";
import { systemClock } from "../../src/clock.js";
import { Elector, StoreError } from "../../src/index.js";
import type { Identity } from "../support/certificates.js";
import { freePort } from "../support/free-port.js";
import { fresh } from "../support/names.js";
import { startProxy } from "../support/proxy.js";
import { ca, known, MISTAKES, otherCa, startTlsServers, TICK, type TlsServers, trusting } from "../support/tls-servers.js";
import { PATIENCE, until } from "../support/wait-for.js";
import { startZooKeeper } from "../support/zookeeper-server.js";
import { Candidate } from "./support/candidate.js";
import { lineUp } from "./support/line.js";
import { blackholedLeader } from "./support/scenarios/blackholed-leader.js";
import { startTlsListener } from "./support/tls-listener.js";
import { CountingClock, clientOptions, rejection, soon, watchForStrayErrors } from "./zookeeper-client-support.js";

let servers: TlsServers;
beforeAll(async () => {
  servers = await startTlsServers();
});
afterAll(() => servers?.[Symbol.asyncDispose]());
watchForStrayErrors();

const portOf = (address: string) => Number(address.split(":")[1]);

describe("an election over TLS", () => {
  it("is won, handed over, and kept through a broken connection on the same session", async () => {
    const { lenient } = servers;
    await using proxy = await startProxy(portOf(lenient.secureAddress), { framed: false });
    await using line = await lineUp(lenient.address, ["a", "b"], { servers: proxy.address, tls: trusting });
    const [a, b] = line.all as [Candidate, Candidate];
    const told = b.told.length;
    await a.stop();
    await b.next("elected", told);

    const term = b.elector.term;
    const entries = await line.view.entries();
    proxy.cut();
    await until(() => proxy.connections === 1, { what: "b is connected again" });
    await expect(term?.confirm()).resolves.toBeUndefined();
    expect(b.elector.term).toBe(term);
    expect(await line.view.entries()).toEqual(entries);
    expect(b.all("lost")).toEqual([]);
  });

  it("is held under a name of the certificate, whatever is dialled, and by the name that is dialled", async () => {
    const port = portOf(servers.lenient.secureAddress);
    for (const [host, tls] of [
      ["127.0.0.1", { ...trusting, servername: "localhost" }],
      ["localhost", trusting],
    ] as const) {
      await using candidate = new Candidate({ store: { servers: `${host}:${port}`, root: `/${fresh("tls")}`, tls }, id: "a" });
      await candidate.start().next("elected", 0);
    }
  });

  it.each(["strict", "old"] as const)("shows our certificate to a server that demands it (%s)", async (which) => {
    const sealed = ca.issue("me", { passphrase: "sesame street" });
    const tls = { ...trusting, ...sealed, passphrase: "sesame street" };
    await using line = await lineUp(servers[which].address, ["a", "b"], { servers: servers[which].secureAddress, tls });
    const told = line.all[1]!.told.length;
    await line.all[0]!.stop();
    await line.all[1]!.next("elected", told);
  });

  it("is lost by the leader's own clock when its connection swallows everything, before the next one is elected", async () => {
    expect((await blackholedLeader(servers.lenient.secureAddress, TICK, "until-over", trusting, servers.lenient.address)).problems).toEqual(
      [],
    );
  });

  it("is reached past a dead address, a plain port, and servers whose certificates do not hold", async () => {
    const { lenient, strict, expired } = servers;
    const addresses = [`127.0.0.1:${await freePort()}`, inject("zookeeper"), expired.secureAddress, strict.secureAddress];
    const store = { servers: [...addresses, lenient.secureAddress], root: `/${fresh("tls")}`, tls: trusting };
    // In an order of chance each time.
    for (let round = 0; round < 5; round++) {
      await using candidate = new Candidate({ store, id: "a" });
      await candidate.start().next("elected", 0);
      expect(candidate.count("warning")).toBe(0);
    }
  });

  it("tells of each server what is wrong with it when none will do, and tries on while one may come back", async () => {
    const dead = `127.0.0.1:${await freePort()}`;
    const store = { servers: [dead, servers.expired.secureAddress], root: `/${fresh("tls")}`, tls: trusting };
    await using candidate = new Candidate({ store, id: "a" });
    const { error } = await candidate.start().next("warning", 0);
    expect(error).toMatchObject({ code: "unreachable", transient: true });
    expect(error?.message).toContain(`${dead}: connection refused`);
    expect(error?.message).toContain(`${servers.expired.secureAddress}: its certificate`);
    await candidate.next("warning");
  });
});

describe("one clear error for", () => {
  const lasting = MISTAKES.filter(({ code }) => code === "certificate");
  it.each(lasting)("$what, which stops the candidate", async ({ address, tls, says }) => {
    const store = zookeeper({ servers: address(servers), root: `/${fresh("tls")}`, tls });
    const candidate = new Candidate({ store, id: "a" }).start();
    const { error } = await candidate.next("stopped", 0);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: "certificate", transient: false });
    expect(error?.message).toMatch(new RegExp(`^no ZooKeeper server can be used: ${address(servers)}: ${says.source}$`));
    expect(candidate.story()).toEqual(["stopped"]);
    await expect(new Elector({ store, election: "seat" }).lead(() => {})).rejects.toMatchObject({ code: "certificate" });
  });

  const passing = MISTAKES.filter(({ code }) => code === "unreachable");
  it.each(passing)("$what, with each try, since it looks like a server that does not serve", async ({ address, tls, says }) => {
    await using candidate = new Candidate({ store: { servers: address(servers), root: `/${fresh("tls")}`, tls }, id: "a" });
    candidate.start();
    await until(() => candidate.count("warning") >= 2, { what: "two warnings" });
    for (const { error } of candidate.all("warning")) {
      expect(error).toMatchObject({ code: "unreachable", transient: true });
      expect(error?.message).toMatch(new RegExp(`^no ZooKeeper server can be reached: ${address(servers)}: ${says.source}$`));
    }
  });
});

describe("a server's certificate that expires while candidates stand", () => {
  it("is told of with each try, and they stand again once it has been renewed", async () => {
    const names = ["127.0.0.1"];
    const good = ca.issue("server", { names });
    await using server = await startZooKeeper({ tickTime: TICK, tls: { ...good, ca: ca.cert } });
    const store = { servers: server.secureAddress, root: `/${fresh("tls")}`, sessionTimeout: 4000, tls: trusting };
    await using candidate = new Candidate({ store, id: "a" });
    await candidate.start().next("elected", 0);
    const restart = async (identity: Identity) => {
      await server.stop("SIGKILL");
      server.certify(identity);
      await server.start();
    };
    await restart(ca.issue("server", { names, days: -1 }));
    const refused = () => candidate.all("warning").filter(({ error }) => (error as StoreError).code === "certificate");
    await until(() => refused().length >= 2, { what: "two warnings" });
    for (const { error } of candidate.all("warning")) expect(error).toMatchObject({ transient: true });
    for (const { error } of refused()) expect(error?.message).toMatch(/CERT_HAS_EXPIRED/);
    const from = candidate.told.length;
    await restart(good);
    await candidate.next("elected", from);
  });
});

describe("a certificate as an identity", () => {
  it.each([
    ["the scheme x509 gives to it", { scheme: "x509", id: "CN=me,O=acme" }],
    ["its creator keeps for itself", { scheme: "auth", id: "" }],
  ])("owns what %s, and nobody else does", async (_, whom) => {
    const { strict } = servers;
    const store = { servers: strict.secureAddress, root: `/${fresh("x509")}`, acl: [{ permissions: "cdrwa", ...whom }] };
    await using owner = new Candidate({ store: { ...store, tls: known }, id: "owner" });
    await owner.start().next("elected", 0);
    const stranger = new Candidate({ store: { ...store, tls: { ...trusting, ...ca.issue("stranger") } }, id: "stranger" });
    const { error } = await stranger.start().next("stopped", 0);
    expect(error).toMatchObject({ code: "auth", transient: false });
    expect(error?.message).toMatch(/NOAUTH: x509:CN=stranger,O=acme lacks the permission [A-Z]+ on .*: have that permission given/);
    expect(error?.message).toContain(store.root);
    expect(owner.isLeader).toBe(true);
  });
});

describe("the client over TLS", () => {
  const options = (address: string, tls: ZooKeeperTls = trusting) => clientOptions([address], { tls: readTls(tls) });

  it("closes the session that it has opened in vain", async () => {
    // A server of its own: sessions of others come and go.
    const maxSessionTimeout = 4 * PATIENCE;
    const identity = ca.issue("server", { names: ["127.0.0.1"] });
    await using own = await startZooKeeper({ tickTime: TICK, tls: { ...identity, ca: ca.cert }, config: { maxSessionTimeout } });
    await using proxy = await startProxy(portOf(own.secureAddress), { framed: false });
    proxy.delay(1000, "down");
    const sessions = async () => Number((await own.mntr()).zk_global_sessions);
    const clock = new CountingClock();
    const abort = new AbortController();
    const opening = rejection(
      connectZooKeeper({ ...options(proxy.address), sessionTimeout: maxSessionTimeout, connectTimeout: PATIENCE }, clock, abort.signal),
    );
    await until(async () => (await sessions()) === 1, { what: "the server has opened a session" });
    abort.abort(new Error("not wanted"));
    expect(await opening).toBe(abort.signal.reason);
    expect(clock.pending).toBe(0);
    await until(async () => (await sessions()) === 0, { what: "no session is left, though none has expired" });
  });

  it("gives up a handshake of TLS that nobody answers", async () => {
    await using proxy = await startProxy(portOf(servers.lenient.secureAddress), { framed: false });
    proxy.blackhole();
    const clock = new CountingClock();
    const opening = connectZooKeeper({ ...options(proxy.address), connectTimeout: 300 }, clock, soon());
    expect(await rejection(opening)).toMatchObject({ code: "unreachable", message: expect.stringContaining("no handshake within 300 ms") });
    expect(clock.pending).toBe(0);
  });

  it("tells nothing to a server whose certificate does not hold, least of all a password", async () => {
    await using rogue = await startTlsListener(otherCa.issue("rogue", { names: ["127.0.0.1"] }));
    for (let round = 0; round < 5; round++) {
      const auth = [{ scheme: "digest", credentials: "me:secret" }];
      const opening = connectZooKeeper({ ...options(`127.0.0.1:${rogue.port}`), auth }, systemClock, soon());
      expect(await rejection(opening)).toMatchObject({ code: "certificate" });
    }
    await until(() => rogue.handshakes() === 5, { what: "all handshakes are over" });
    expect(rogue.heard.bytes).toBe(0);
  });

  it("says which server it wants", async () => {
    await using listener = await startTlsListener(ca.issue("server", { names: ["localhost", "127.0.0.1"] }));
    for (const [host, tls] of [
      ["localhost", trusting],
      ["127.0.0.1", { ...trusting, servername: "localhost" }],
      ["127.0.0.1", trusting],
    ] as const) {
      const opening = connectZooKeeper({ ...options(`${host}:${listener.port}`, tls), connectTimeout: 3000 }, systemClock, soon());
      expect(await rejection(opening)).toMatchObject({ code: "unreachable", message: expect.stringContaining("no handshake") });
    }
    expect(listener.names).toEqual(["localhost", "localhost", false]);
    expect(listener.heard.bytes).toBeGreaterThan(0);
  });

  it("sends what is written in one turn in one piece", async () => {
    await using listener = await startTlsListener(ca.issue("server", { names: ["127.0.0.1"] }));
    const host = { frame: () => {}, heard: () => {}, drained: () => {}, closed: () => {} };
    const socket = new FramedSocket(`127.0.0.1:${listener.port}`, readTls(trusting), {
      ...host,
      connected: () => {
        for (let i = 0; i < 20; i++) socket.write(Buffer.alloc(30));
      },
    });
    await until(() => listener.heard.bytes === 600, { what: "all has arrived" });
    expect(listener.heard.pieces).toBe(1);
    socket.destroy();
  });
});
