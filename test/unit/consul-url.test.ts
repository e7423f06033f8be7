import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsulOptions, readOptions, type Settings } from "../../adapters/consul/consul-options.js";
import { consul } from "../../adapters/consul/index.js";
import { ConfigError } from "../../src/errors.js";
import { Authority } from "../support/certificates.js";

type Env = Readonly<Record<string, string>>;

const read = (given: string | ConsulOptions, env: Env = {}, passphrase: string | null = null): Settings =>
  readOptions(given, { env, passphrase });

function refusal(given: unknown, env: Env = {}, passphrase: string | null = null): ConfigError {
  try {
    read(given as string, env, passphrase);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error as ConfigError;
  }
  throw new Error("was not refused");
}

const ca = new Authority("the CA");
const me = ca.issue("me");
const sealed = ca.issue("me", { passphrase: "sesame street" });
let folder = "";
const at = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-consul-url-"));
  const files = { "ca.pem": ca.cert, "me.pem": me.cert, "me.key": me.key, "sealed.pem": sealed.cert, "sealed.key": sealed.key };
  for (const [name, text] of Object.entries({ ...files, token: "from-a-file\n", empty: "\n" })) writeFileSync(at(name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("store URLs of Consul", () => {
  it("reads everything that a URL can say", () => {
    const url =
      "consul://c1:8600/app/x?ttl=20s&lockDelay=2s&requestTimeout=3s&datacenter=dc2&namespace=ns1&partition=p1&node=tenure" +
      `&checks=serfHealth,service:web&tokenFile=${at("token")}` +
      `&tls=true&caFile=${at("ca.pem")}&certFile=${at("me.pem")}&keyFile=${at("me.key")}&servername=c.example&verify=false`;
    const tls = { ca: ca.cert, cert: me.cert, key: me.key, passphrase: undefined, servername: "c.example", verify: false };
    const client = { address: "https://c1:8600", token: "from-a-file", datacenter: "dc2", namespace: "ns1", partition: "p1" };
    expect(read(url)).toEqual({
      name: "consul://c1:8600/app/x",
      prefix: "app/x",
      ttl: 20_000,
      lockDelay: 2000,
      checks: ["serfHealth", "service:web"],
      node: "tenure",
      client: { ...client, requestTimeout: 3000, tls },
    });
  });

  it("has defaults for everything", () => {
    const settings = {
      name: "consul://127.0.0.1:8500/tenure",
      prefix: "tenure",
      ttl: 15_000,
      lockDelay: 1000,
      checks: [],
      node: null,
      client: {
        address: "http://127.0.0.1:8500",
        token: null,
        datacenter: null,
        namespace: null,
        partition: null,
        tls: null,
        requestTimeout: 10_000,
      },
    };
    for (const given of ["consul://", "consul:///", {}]) expect(read(given)).toEqual(settings);
  });

  it("reads a bare host:port/prefix, and options, as the URL that says the same", () => {
    expect(read("c1:8600/app")).toEqual(read("consul://c1:8600/app"));
    expect(read("c1")).toEqual(read("consul://c1"));
    const url = "consul://c1/app?ttl=20s&lockDelay=0s&checks=a,b&tls=true";
    expect(read({ address: "c1", prefix: "app", ttl: 20_000, lockDelay: 0, checks: ["a", "b"], tls: true })).toEqual(read(url));
  });

  it.each<[ConsulOptions, string]>([
    [{ address: "c1" }, "http://c1:8500"],
    [{ address: "c1", tls: true }, "https://c1:8501"],
    [{ address: "[::1]:80" }, "http://[::1]:80"],
    [{ address: "http://c1" }, "http://c1:80"],
    [{ address: "https://c1/" }, "https://c1:443"],
    [{ address: "https://c1:8501", tls: true }, "https://c1:8501"],
    [{ address: "http://c1:8500", tls: false }, "http://c1:8500"],
    [{ tls: {} }, "https://127.0.0.1:8501"],
    [{ address: "unix:///run/consul.sock" }, "unix:///run/consul.sock"],
  ])("dials %j at %s", (options, address) => {
    expect(read(options).client.address).toBe(address);
  });

  it("takes a socket in a URL", () => {
    expect(read("consul:///app?address=unix:///run/consul.sock")).toMatchObject({
      name: "consul:///app?address=unix:///run/consul.sock",
      client: { address: "unix:///run/consul.sock", tls: null },
    });
  });

  it.each([
    ["", "store"],
    ["zookeeper://h1", "store"],
    ["http://h1:8500", "store"],
    ["h1:8500?ttl=15s", "store"],
    ["consul://h1#x", "store"],
    ["consul://h1:", "address"],
    ["consul://h1:0", "address"],
    ["consul://h1:65536", "address"],
    ["consul://h1,h2", "address"],
    ["consul://h 1", "address"],
    ["consul://::1:8500", "address"],
    ["consul://h1?address=h2", "address"],
    ["consul:///x?address=unix://run/x", "address"],
    ["consul:///x?address=ftp://h", "address"],
    ["consul:///x?address=http://h/path", "address"],
    [{ address: 7 }, "address"],
    [{ address: "http://h", tls: true }, "address"],
    [{ address: "https://h", tls: false }, "address"],
    [{ address: "unix:///x", tls: true }, "address"],
    ["consul://h1/a//b", "prefix"],
    ["consul://h1//a", "prefix"],
    ["consul://h1/a/", "prefix"],
    ["consul://h1/./a", "prefix"],
    ["consul://h1/a/..", "prefix"],
    ["consul://h1/_a", "prefix"],
    ["consul://h1/a/_b", "prefix"],
    ["consul://h1/a%20b", "prefix"],
    ["consul://h1/a b", "prefix"],
    [{ prefix: "" }, "prefix"],
    [{ prefix: "a\n" }, "prefix"],
    [{ prefix: "/a" }, "prefix"],
    [{ prefix: "a".repeat(257) }, "prefix"],
    [{ prefix: 7 }, "prefix"],
    [{ prefix: null }, "prefix"],
    ["consul://h1?ttl=15", "ttl"],
    ["consul://h1?ttl=999ms", "ttl"],
    ["consul://h1?ttl=25h", "ttl"],
    [{ ttl: 0 }, "ttl"],
    [{ ttl: "15" }, "ttl"],
    [{ ttl: null }, "ttl"],
    ["consul://h1?lockDelay=61s", "lockDelay"],
    ["consul://h1?lockDelay=1", "lockDelay"],
    [{ lockDelay: -1 }, "lockDelay"],
    [{ requestTimeout: 0 }, "requestTimeout"],
    ["consul://h1?TTL=15s", "TTL"],
    ["consul://h1?sessionTimeout=15s", "sessionTimeout"],
    ["consul://h1?ttl=15s&ttl=16s", "ttl"],
    [{ lockdelay: 5 }, "lockdelay"],
    [{ datacenter: "" }, "datacenter"],
    [{ datacenter: "a b" }, "datacenter"],
    [{ namespace: "a/b" }, "namespace"],
    [{ partition: 1 }, "partition"],
    [{ node: "a/b" }, "node"],
    [{ node: "" }, "node"],
    [{ checks: "serfHealth" }, "checks"],
    [{ checks: [""] }, "checks"],
    ["consul://h1?checks=", "checks"],
    ["consul://h1?tls=yes", "tls"],
    [{ tls: "yes" }, "tls"],
    [{ tls: [] }, "tls"],
    [{ tls: { caFiel: "x" } }, "tls.caFiel"],
    [{ tls: { rejectUnauthorized: false } }, "tls.rejectUnauthorized"],
    [{ tls: { verify: "no" } }, "tls.verify"],
    [{ tls: { caFile: "/no/such" } }, "tls.caFile"],
    [{ tls: { ca: "no PEM" } }, "tls.ca"],
    ["consul://h1?caFile=ca.pem", "caFile"],
    ["consul://h1?tls=false&verify=false", "verify"],
    ["consul://h1?tls=true&verify=maybe", "verify"],
    [null, "store"],
    [["h1"], "store"],
    [7, "store"],
  ])("refuses %j, naming the option %s", (given, option) => {
    const error = refusal(given);
    expect(error).toMatchObject({ code: "config", option });
    expect(error.message.startsWith(`${option}: `)).toBe(true);
  });
});

describe("tokens", () => {
  it.each<[ConsulOptions, Env, string | null]>([
    [{}, {}, null],
    [{ token: "a" }, { CONSUL_HTTP_TOKEN: "b", CONSUL_HTTP_TOKEN_FILE: "/no/such" }, "a"],
    [{}, { CONSUL_HTTP_TOKEN: "b" }, "b"],
    [{}, { CONSUL_HTTP_TOKEN: "" }, null],
  ])("%j with %j: %s", (options, env, token) => {
    expect(read(options, env).client.token).toBe(token);
  });

  it("come from files; of two variables the file counts, as for Consul's own tools", () => {
    expect(read({ tokenFile: at("token") }, { CONSUL_HTTP_TOKEN: "b" }).client.token).toBe("from-a-file");
    expect(read({}, { CONSUL_HTTP_TOKEN: "b", CONSUL_HTTP_TOKEN_FILE: at("token") }).client.token).toBe("from-a-file");
  });

  it.each<[unknown, string]>([
    ["consul://hush@h1", "store"],
    ["consul://x:hush@h1", "store"],
    ["consul://h1?token=hush", "token"],
    ["hush@h1:8500", "store"],
    [{ address: "hush@h1" }, "address"],
    [{ token: "hush hush" }, "token"],
    [{ token: "hush\n" }, "token"],
    [{ token: "hush", tokenFile: "x" }, "token"],
    [{ token: "" }, "token"],
    [{ token: 7 }, "token"],
    [{ tokenFile: "" }, "tokenFile"],
    [{ tokenFile: "/no/such" }, "tokenFile"],
  ])("of a wrong form or place are refused without being shown: %j", (given, option) => {
    const error = refusal(given);
    expect(error.option).toBe(option);
    expect(error.message).not.toContain("hush");
  });

  it("are not in the store's name", () => {
    expect(JSON.stringify(consul({ address: "h1", token: "hush" }).name)).toBe('"consul://h1:8500/tenure"');
    expect(refusal({ tokenFile: at("empty") })).toMatchObject({ option: "tokenFile" });
  });
});

describe("the usual variables", () => {
  const tls: Env = { CONSUL_HTTP_SSL: "true" };

  it.each<[string | ConsulOptions, Env, string]>([
    ["consul:///p", { CONSUL_HTTP_ADDR: "c9:99" }, "http://c9:99"],
    ["consul://c1/p", { CONSUL_HTTP_ADDR: "c9:99" }, "http://c1:8500"],
    [{}, { CONSUL_HTTP_ADDR: "http://c9:99" }, "http://c9:99"],
    [{}, { CONSUL_HTTP_ADDR: "https://c9:99" }, "https://c9:99"],
    [{}, { CONSUL_HTTP_ADDR: "https://c9:99", CONSUL_HTTP_SSL: "false" }, "https://c9:99"],
    [{}, { CONSUL_HTTP_ADDR: "http://c9:99", ...tls }, "https://c9:99"],
    [{}, { CONSUL_HTTP_ADDR: "unix:///run/c.sock", ...tls }, "unix:///run/c.sock"],
    [{ tls: false }, { CONSUL_HTTP_ADDR: "c9:99", ...tls }, "http://c9:99"],
    [{ tls: true }, { CONSUL_HTTP_ADDR: "http://c9:99" }, "https://c9:99"],
    ["consul://c1/p", { CONSUL_HTTP_SSL: "1" }, "https://c1:8501"],
    ["consul://c1:8500/p?tls=false", tls, "http://c1:8500"],
    [{ address: "http://c1:8500" }, tls, "http://c1:8500"],
    [{}, tls, "https://127.0.0.1:8501"],
  ])("of %j with %j: %s", (given, env, address) => {
    expect(read(given, env).client.address).toBe(address);
  });

  it("name namespace and partition", () => {
    const env = { CONSUL_NAMESPACE: "n", CONSUL_PARTITION: "p" };
    expect(read({}, env).client).toMatchObject({ namespace: "n", partition: "p" });
    expect(read({ namespace: "x" }, env).client).toMatchObject({ namespace: "x", partition: "p" });
  });

  it("say whom to trust and who we are, where TLS is spoken", () => {
    const files = { CONSUL_CACERT: at("ca.pem"), CONSUL_CLIENT_CERT: at("me.pem"), CONSUL_CLIENT_KEY: at("me.key") };
    const env: Env = { ...files, CONSUL_TLS_SERVER_NAME: "c.example", CONSUL_HTTP_SSL_VERIFY: "false" };
    const all = { ca: ca.cert, cert: me.cert, key: me.key, servername: "c.example", verify: false };
    expect(read({ tls: true }, env).client.tls).toMatchObject(all);
    expect(read({}, { ...env, ...tls }).client.tls).toMatchObject(all);
    expect(read({}, env).client.tls).toBeNull();
    const own = { ca: me.cert, ...sealed, passphrase: "sesame street", servername: "x", verify: true };
    expect(read({ tls: own }, env).client.tls).toMatchObject(own);
  });

  it("take the passphrase of a key that is a file from where the command line has it, and pass over it elsewhere", () => {
    const env = { CONSUL_CLIENT_CERT: at("sealed.pem"), CONSUL_CLIENT_KEY: at("sealed.key") };
    expect(read({ tls: true }, env, "sesame street").client.tls).toMatchObject({ passphrase: "sesame street" });
    expect(read({ tls: true }, {}, "sesame street").client.tls).toMatchObject({ passphrase: undefined });
    expect(read({}, env, "sesame street").client.tls).toBeNull();
    expect(refusal({ tls: true }, env).option).toBe("tls.passphrase");
  });

  it.each<[ConsulOptions, Env, string]>([
    [{}, { CONSUL_HTTP_ADDR: "h:0" }, "CONSUL_HTTP_ADDR"],
    [{}, { CONSUL_HTTP_TOKEN: "hush hush" }, "CONSUL_HTTP_TOKEN"],
    [{}, { CONSUL_HTTP_TOKEN_FILE: "/no/such" }, "CONSUL_HTTP_TOKEN_FILE"],
    [{}, { CONSUL_HTTP_SSL: "yes" }, "CONSUL_HTTP_SSL"],
    [{ tls: true }, { CONSUL_HTTP_SSL_VERIFY: "no" }, "CONSUL_HTTP_SSL_VERIFY"],
    [{ tls: true }, { CONSUL_CACERT: "/no/such" }, "CONSUL_CACERT"],
    [{ tls: true }, { CONSUL_CLIENT_CERT: "/no/such" }, "CONSUL_CLIENT_CERT"],
    [{ tls: true }, { CONSUL_CLIENT_KEY: "/no/such" }, "CONSUL_CLIENT_KEY"],
    [{ tls: true }, { CONSUL_TLS_SERVER_NAME: "a b" }, "CONSUL_TLS_SERVER_NAME"],
    [{}, { CONSUL_NAMESPACE: "a/b" }, "CONSUL_NAMESPACE"],
    [{}, { CONSUL_PARTITION: "a/b" }, "CONSUL_PARTITION"],
  ])("are named when they are wrong: %j with %j", (options, env, variable) => {
    const error = refusal(options, env);
    expect(error.option).toBe(variable);
    expect(error.message.startsWith(`${variable}: `)).toBe(true);
    expect(error.message).not.toContain("hush");
  });
});
