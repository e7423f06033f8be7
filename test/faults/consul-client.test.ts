import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectConsul } from "../../adapters/consul/client/consul-client.js";
import type { ConsulClient } from "../../adapters/consul/client/consul-wire.js";
import { type ConsulOptions, readOptions } from "../../adapters/consul/consul-options.js";
import { consul as storeOn } from "../../adapters/consul/index.js";
import { systemClock } from "../../src/clock.js";
import { Elector } from "../../src/index.js";
import { Authority } from "../support/certificates.js";
import { consul } from "../support/consul.js";
import { call } from "../support/consul-http.js";
import { type ConsulServer, startConsul } from "../support/consul-server.js";
import { fresh } from "../support/names.js";

const ca = new Authority("the CA");
const otherCa = new Authority("another CA");
const me = ca.issue("me");
const signal = new AbortController().signal;

interface SessionInfo {
  readonly ID: string;
  readonly Node: string;
  readonly LockDelay: number;
  readonly TTL: string;
  readonly Behavior: string;
  readonly NodeChecks: readonly string[] | null;
}

async function using<T>(options: ConsulOptions, use: (client: ConsulClient) => Promise<T>): Promise<T> {
  const client = await connectConsul(readOptions(options, { env: {}, passphrase: null }).client, systemClock);
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

async function infoOf(id: string): Promise<SessionInfo> {
  const [info] = (await call(consul, "GET", `/v1/session/info/${id}`)).json<SessionInfo[]>();
  return info as SessionInfo;
}

const request = { ttl: 10_000, lockDelay: 0, name: "a test", node: null, checks: [] };

describe("a session as the server has it", () => {
  it("has no lock-delay where none is wanted, the ttl that was asked for, and no checks", async () => {
    await using({ address: consul }, async (client) => {
      for (const lockDelay of [0, 1500]) {
        const id = await client.createSession({ ...request, lockDelay }, signal);
        const info = await infoOf(id);
        expect(info).toMatchObject({ LockDelay: lockDelay * 1e6, TTL: "10000ms", Behavior: "delete" });
        expect(info.NodeChecks ?? []).toEqual([]);
        await client.destroySession(id, signal);
        expect(await client.renewSession(id, signal)).toBe(false);
      }
    });
  });

  it("is bound to checks of its node, of the node itself or of a service there", async () => {
    const service = fresh("service");
    await call(consul, "PUT", "/v1/agent/service/register", { body: { Name: service, Check: { TTL: "1h", Status: "passing" } } });
    try {
      await using({ address: consul }, async (client) => {
        const id = await client.createSession({ ...request, checks: ["serfHealth", `service:${service}`] }, signal);
        expect((await infoOf(id)).NodeChecks).toEqual(["serfHealth", `service:${service}`]);
        await call(consul, "PUT", `/v1/agent/check/fail/service:${service}`);
        await expect.poll(() => client.renewSession(id, signal), { timeout: 20_000, interval: 50 }).toBe(false);
        const refused = await client.createSession({ ...request, checks: ["nothing"] }, signal).catch((error: unknown) => error);
        expect(refused).toMatchObject({ code: "rejected", message: expect.stringMatching(/nothing/) });
      });
    } finally {
      await call(consul, "PUT", `/v1/agent/service/deregister/${service}`);
    }
  });

  it("is on a node of its own, which is made once", async () => {
    const node = fresh("node");
    await using({ address: consul }, async (client) => {
      await client.registerNode(node, signal);
      const index = async () =>
        (await call(consul, "GET", `/v1/catalog/node/${node}`)).json<{ Node: { ModifyIndex: number } }>().Node.ModifyIndex;
      const made = await index();
      await client.registerNode(node, signal);
      expect(await index()).toBe(made);
      const id = await client.createSession({ ...request, node }, signal);
      expect((await infoOf(id)).Node).toBe(node);
      await client.destroySession(id, signal);
    });
    await call(consul, "PUT", "/v1/catalog/deregister", { body: { Node: node } });
  });

  it("of a ttl below the server's minimum is refused with what to do", async () => {
    await using({ address: consul }, async (client) => {
      const refused = await client.createSession({ ...request, ttl: 500 }, signal).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "unsupported", message: expect.stringMatching(/must be between.*session_ttl_min/) });
    });
  });
});

describe("flags", () => {
  it("are those of Go's api.Lock, to the last digit", async () => {
    const key = fresh("flags");
    await using({ address: consul }, async (client) => {
      const session = await client.createSession(request, signal);
      await client.transact([{ verb: "lock", key, value: "x", session }], signal);
      // Not parsed: JSON.parse rounds.
      expect((await call(consul, "GET", `/v1/kv/${key}`)).text).toMatch(/"Flags": ?3304740253564472344,/);
      await client.destroySession(session, signal);
    });
  });
});

describe("ways to an agent", () => {
  let server: ConsulServer;
  let strict: ConsulServer;
  beforeAll(async () => {
    const identity = ca.issue("server", { names: ["localhost", "127.0.0.1"] });
    [server, strict] = await Promise.all([
      startConsul({ unixSocket: true, tls: identity }),
      startConsul({ tls: { ...identity, clientCa: ca.cert } }),
    ]);
  });
  afterAll(() => Promise.all([server?.dispose(), strict?.dispose()]));

  const leads = async (options: ConsulOptions) => {
    const elector = new Elector({ store: storeOn({ ...options, ttl: 4000, prefix: fresh("ways") }), election: "seat" });
    return elector.lead(async (term) => term.number);
  };

  it("lead over a unix socket", async () => {
    expect(await leads({ address: `unix://${server.socket}` })).toBe(1);
  });

  it("lead over TLS, with whom we trust, who we are, and without either", async () => {
    expect(await leads({ address: server.secureAddress, tls: { ca: ca.cert } })).toBe(1);
    expect(await leads({ address: `https://${server.secureAddress}`, tls: { ca: ca.cert, servername: "localhost" } })).toBe(1);
    expect(await leads({ address: strict.secureAddress, tls: { ca: ca.cert, ...me } })).toBe(1);
    const sealed = ca.issue("me", { passphrase: "sesame street" });
    expect(await leads({ address: strict.secureAddress, tls: { ca: ca.cert, ...sealed, passphrase: "sesame street" } })).toBe(1);
    expect(await leads({ address: server.secureAddress, tls: { verify: false } })).toBe(1);
  });

  const secure = () => server.secureAddress;
  const others = otherCa.issue("me");
  it.each<[string, () => ConsulOptions, string, boolean, RegExp]>([
    [
      "a CA that we do not trust",
      () => ({ address: secure(), tls: { ca: otherCa.cert } }),
      "certificate",
      false,
      /not signed by a CA that tls\.ca holds/,
    ],
    [
      "a CA that Node.js does not know",
      () => ({ address: secure(), tls: true }),
      "certificate",
      false,
      /not signed by a CA that Node\.js knows/,
    ],
    [
      "another name",
      () => ({ address: secure(), tls: { ca: ca.cert, servername: "c.example" } }),
      "certificate",
      false,
      /is for DNS:localhost, IP Address:127\.0\.0\.1, not for c\.example: .*tls\.servername/,
    ],
    [
      "no certificate of ours",
      () => ({ address: strict.secureAddress, tls: { ca: ca.cert } }),
      "certificate",
      false,
      /demands a certificate/,
    ],
    [
      "one of ours that another CA signed",
      () => ({ address: strict.secureAddress, tls: { ca: ca.cert, ...others } }),
      "certificate",
      false,
      /refuses our certificate/,
    ],
    [
      "TLS on a plain port",
      () => ({ address: server.address, tls: { ca: ca.cert } }),
      "unreachable",
      false,
      /not TLS: give the agent's HTTPS port/,
    ],
    ["no TLS on a TLS port", () => ({ address: secure() }), "rejected", false, /speaks TLS on this port \(option tls\)/],
  ])("say what is wrong: %s", async (_, options, code, transient, says) => {
    await using(options(), async (client) => {
      const error = await client.names("x/", signal).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code, transient, message: expect.stringMatching(says) });
      expect((error as Error).message).not.toContain("\n");
    });
  });
});
