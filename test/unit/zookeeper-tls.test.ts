import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tlsFault } from "../../adapters/zookeeper/client/zookeeper-client-tls.js";
import type { TlsSettings, ZooKeeperClient } from "../../adapters/zookeeper/client/zookeeper-wire.js";
import { type ZooKeeperTls, zookeeper } from "../../adapters/zookeeper/index.js";
import { readOptions } from "../../adapters/zookeeper/zookeeper-options.js";
import { ZooKeeperStore } from "../../adapters/zookeeper/zookeeper-store.js";
import { systemClock } from "../../src/clock.js";
import { ConfigError, StoreError } from "../../src/errors.js";
import { Authority } from "../support/certificates.js";

const ca = new Authority("the CA");
const me = ca.issue("me");
const sealed = ca.issue("me", { passphrase: "sesame street" });
let folder = "";
let at = (_name: string) => "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-pem-"));
  at = (name) => join(folder, name);
  const files = {
    "ca.pem": ca.cert,
    "me.pem": me.cert,
    "me.key": me.key,
    "sealed.pem": sealed.cert,
    "sealed.key": sealed.key,
    "no.pem": "no",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

const tlsOf = (tls: boolean | ZooKeeperTls) => readOptions({ servers: "h1", tls }).client.tls;

describe("the option tls", () => {
  it("is off by default, and on with the authorities that Node.js knows", () => {
    expect(readOptions("h1").client.tls).toBeNull();
    expect(readOptions("zookeeper://h1?tls=false").client.tls).toBeNull();
    expect(tlsOf(false)).toBeNull();
    expect(tlsOf(true)).toMatchObject({ ownCa: false, subject: null, servername: null });
    expect(readOptions("zookeeper://h1?tls=true").client.tls).toMatchObject({ ownCa: false, subject: null, servername: null });
  });

  it("takes PEM as texts, Buffers, a list of authorities, and files", () => {
    const whole = { ownCa: true, subject: "CN=me,O=acme", servername: "zk.example" };
    expect(tlsOf({ ca: ca.cert, cert: me.cert, key: me.key, servername: "zk.example" })).toMatchObject(whole);
    const [cert, key] = [Buffer.from(me.cert), Buffer.from(me.key)];
    expect(tlsOf({ ca: [Buffer.from(ca.cert), ca.cert], cert, key, servername: "zk.example" })).toMatchObject(whole);
    const url = `zookeeper://h1?tls=true&caFile=${at("ca.pem")}&certFile=${at("me.pem")}&keyFile=${at("me.key")}&servername=zk.example`;
    expect(readOptions(url).client.tls).toMatchObject(whole);
    expect(tlsOf({ cert: sealed.cert, keyFile: at("sealed.key"), passphrase: "sesame street" })).toMatchObject({ subject: "CN=me,O=acme" });
  });

  it("takes a certificate without a subject", () => {
    expect(tlsOf(ca.issue("", { names: ["me.example"] }))).toMatchObject({ subject: "" });
  });

  it("reads files once, when the store is made", () => {
    writeFileSync(at("brief.pem"), ca.cert);
    const store = zookeeper({ servers: "h1", tls: { caFile: at("brief.pem") } });
    rmSync(at("brief.pem"));
    expect(store.name).toBe("zookeeper://h1:2181/tenure");
  });

  const cases: [string, () => unknown, string, RegExp][] = [
    ["a text", () => "true", "tls", /expected true, or an object/],
    ["an unknown key", () => ({ pfx: "x" }), "tls.pfx", /unknown option; expected one of ca,/],
    ["rejectUnauthorized", () => ({ rejectUnauthorized: false }), "tls.rejectUnauthorized", /no such option.*tls\.ca.*tls\.servername/],
    ["a name of a file for PEM", () => ({ ca: "ca.pem" }), "tls.ca", /expected PEM.*caFile/],
    ["no text", () => ({ cert: 7, key: me.key }), "tls.cert", /expected PEM/],
    ["a file that is not there", () => ({ caFile: at("none.pem") }), "tls.caFile", /cannot read .*none\.pem" \(ENOENT\)/],
    ["a folder", () => ({ caFile: folder }), "tls.caFile", /EISDIR/],
    ["no name of a file", () => ({ caFile: "" }), "tls.caFile", /expected the name of a PEM file/],
    ["a file without a certificate", () => ({ caFile: at("no.pem") }), "tls.caFile", /at least one.*none/],
    ["a key for a CA", () => ({ caFile: at("me.key") }), "tls.caFile", /at least one/],
    [
      "a damaged CA",
      () => ({ ca: [ca.cert, ca.cert.replace(/\n.{8}/, "\nMIICAAAA")] }),
      "tls.ca",
      /certificate 2 of 2 in it cannot be read/,
    ],
    ["both forms", () => ({ ca: ca.cert, caFile: at("ca.pem") }), "tls.ca", /either this or tls\.caFile/],
    ["a certificate alone", () => ({ cert: me.cert }), "tls.cert", /private key as well/],
    ["a key alone", () => ({ keyFile: at("me.key") }), "tls.keyFile", /certificate as well/],
    ["a passphrase alone", () => ({ passphrase: "hush" }), "tls.passphrase", /there is none/],
    ["a passphrase that is no text", () => ({ cert: sealed.cert, key: sealed.key, passphrase: 7 }), "tls.passphrase", /expected a text/],
    [
      "somebody else's key",
      () => ({ cert: me.cert, key: ca.issue("x").key }),
      "tls.key",
      /not the key of the first certificate in tls\.cert/,
    ],
    ["a certificate for a key", () => ({ cert: me.cert, keyFile: at("me.pem") }), "tls.keyFile", /private key cannot be read/],
    ["an encrypted key", () => ({ cert: sealed.cert, key: sealed.key }), "tls.passphrase", /is missing: the key of tls\.key is encrypted/],
    [
      "a wrong passphrase",
      () => ({ cert: sealed.cert, key: sealed.key, passphrase: "hush" }),
      "tls.key",
      /is the passphrase the right one/,
    ],
    ["an address for a name", () => ({ servername: "127.0.0.1" }), "tls.servername", /expected a host name/],
    ["an empty name", () => ({ servername: "" }), "tls.servername", /expected a host name/],
  ];
  it.each(cases)("refuses %s, naming what is wrong and no secret", (_, tls, option, message) => {
    const error = refusal(() => zookeeper({ servers: "h1", tls: tls() as ZooKeeperTls }));
    expect(error).toMatchObject({ code: "config", option });
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/hush|BEGIN PRIVATE|\n/);
  });

  it.each([
    ["tls=yes", "tls", /true or false/],
    ["caFile=ca.pem", "caFile", /write tls=true/],
    ["tls=false&servername=a", "servername", /write tls=true/],
    ["tls=true&passphrase=hush", "passphrase", /unknown option/],
    ["tls=true&ca=ca.pem", "ca", /unknown option.*caFile/],
  ])("refuses a URL with %s", (query, option, message) => {
    const error = refusal(() => zookeeper(`zookeeper://h1?${query}`));
    expect(error).toMatchObject({ option });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("hush");
  });
});

describe("an error of TLS", () => {
  const settings = readOptions({ servers: "h1", tls: true }).client.tls as TlsSettings;

  it.each([
    [
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      true,
      /Node\.js knows: give the certificate of the CA in tls\.ca \(UNABLE_TO_GET_ISSUER_CERT_LOCALLY\)/,
    ],
    ["CERT_NOT_YET_VALID", true, /not valid yet: compare the clocks/],
    ["CERT_REVOKED", true, /may not be used/],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", true, /demands a certificate/],
    ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", true, /demands a certificate/],
    ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", true, /demands a certificate/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", false, /what answers there is not TLS.*secureClientPort/],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", false, /handshake failed \(ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION\)/],
  ])("says what to do: %s", (code, certificate, reason) => {
    expect(tlsFault(Object.assign(new Error("no words for people"), { code }), settings)).toEqual({
      certificate,
      reason: expect.stringMatching(reason),
    });
  });

  it("is not what ends a connection otherwise", () => {
    expect(tlsFault(Object.assign(new Error("reset"), { code: "ECONNRESET" }), settings)).toBeNull();
    expect(tlsFault(new Error("none"), settings)).toBeNull();
  });
});

describe("certificates that no server or client accepts", () => {
  const bad = new StoreError("certificate", "h1: its certificate has expired");

  it("are for good as long as none was ever accepted", async () => {
    const store = new ZooKeeperStore(readOptions("h1"), () => Promise.reject(bad));
    await expect(open(store)).rejects.toMatchObject({ code: "certificate", transient: false });
  });

  it("may pass after a session was opened: somebody will renew them", async () => {
    const answers = [() => Promise.resolve({ timeout: 4000, sessionId: 1n } as ZooKeeperClient), () => Promise.reject(bad)];
    const store = new ZooKeeperStore(readOptions("h1"), () => (answers.shift() as () => Promise<ZooKeeperClient>)());
    await open(store);
    await expect(open(store)).rejects.toMatchObject({ code: "certificate", transient: true, message: bad.message });
  });
});

function open(store: ZooKeeperStore) {
  return store.open({ clock: systemClock }, new AbortController().signal);
}

function refusal(make: () => unknown): ConfigError {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error as ConfigError;
  }
  throw new Error("was not refused");
}
