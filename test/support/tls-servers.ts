import type { ZooKeeperTls } from "../../adapters/zookeeper/index.js";
import { Authority } from "./certificates.js";
import { startZooKeeper, type ZooKeeperServer } from "./zookeeper-server.js";

/** Of all servers here, ms. */
export const TICK = 500;

export const ca = new Authority("the CA");
export const otherCa = new Authority("another CA");
export const me = ca.issue("me");
const server = { ...ca.issue("server", { names: ["localhost", "127.0.0.1"] }), ca: ca.cert };

/** Whom to trust; and who we are, for the servers that ask. */
export const trusting: ZooKeeperTls = { ca: ca.cert };
export const known: ZooKeeperTls = { ca: ca.cert, ...me };

export interface TlsServers extends AsyncDisposable {
  /** Looks at a client's certificate only if there is one. */
  readonly lenient: ZooKeeperServer;
  /** Demands one. */
  readonly strict: ZooKeeperServer;
  /** Demands one, and speaks TLS 1.2: it refuses inside the handshake, not after it. */
  readonly old: ZooKeeperServer;
  /** Its own certificate has expired. */
  readonly expired: ZooKeeperServer;
}

/** Servers that speak TLS on one port and plain TCP on another, each with its own data. */
export async function startTlsServers(): Promise<TlsServers> {
  const [lenient, strict, old, expired] = await Promise.all([
    startZooKeeper({ tickTime: TICK, tls: { ...server, clientAuth: "want" } }),
    startZooKeeper({ tickTime: TICK, tls: { ...server, clientAuth: "need" } }),
    startZooKeeper({ tickTime: TICK, tls: { ...server, clientAuth: "need" }, config: { "ssl.protocol": "TLSv1.2" } }),
    startZooKeeper({ tickTime: TICK, tls: { ...ca.issue("server", { names: ["localhost", "127.0.0.1"], days: -1 }), ca: ca.cert } }),
  ]);
  const all = [lenient, strict, old, expired];
  return { lenient, strict, old, expired, [Symbol.asyncDispose]: async () => void (await Promise.all(all.map((one) => one.dispose()))) };
}

/** Something that is wrong with how somebody speaks to a server, and what must be said about it. */
export interface Mistake {
  readonly what: string;
  readonly address: (servers: TlsServers) => string;
  readonly tls: ZooKeeperTls | boolean;
  readonly code: "certificate" | "unreachable";
  readonly says: RegExp;
}

const lenient = ({ lenient }: TlsServers) => lenient.secureAddress;
const strict = ({ strict }: TlsServers) => strict.secureAddress;
const refused =
  /the server refuses our certificate: give one in tls\.cert that its trust store knows and that has not expired \(ERR_SSL_[\w/]+\)/;
const demanded = /the server demands a certificate of its clients: give one in tls\.cert, with its key in tls\.key \(ERR_SSL_[\w/]+\)/;

export const MISTAKES: readonly Mistake[] = [
  {
    what: "a server whose CA we do not trust",
    address: lenient,
    tls: { ca: otherCa.cert },
    code: "certificate",
    says: /its certificate is not signed by a CA that tls\.ca holds \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/,
  },
  {
    what: "a server whose CA Node.js does not know",
    address: lenient,
    tls: true,
    code: "certificate",
    says: /its certificate is not signed by a CA that Node\.js knows: give the certificate of the CA in tls\.ca \(UNABLE_\w+\)/,
  },
  {
    what: "a server of another name",
    address: lenient,
    tls: { ...trusting, servername: "zk.example" },
    code: "certificate",
    says: /its certificate is for DNS:localhost, IP Address:127\.0\.0\.1, not for zk\.example: .* give that in tls\.servername \(ERR_\w+\)/,
  },
  {
    what: "a server whose certificate has expired",
    address: ({ expired }) => expired.secureAddress,
    tls: trusting,
    code: "certificate",
    says: /its certificate, or that of a CA above it, has expired: it needs a new one \(CERT_HAS_EXPIRED\)/,
  },
  { what: "no certificate of ours", address: strict, tls: trusting, code: "certificate", says: demanded },
  {
    what: "no certificate of ours for TLS 1.2",
    address: ({ old }) => old.secureAddress,
    tls: trusting,
    code: "certificate",
    says: demanded,
  },
  {
    what: "a certificate of ours that another CA signed",
    address: strict,
    tls: { ...trusting, ...otherCa.issue("me") },
    code: "certificate",
    says: refused,
  },
  {
    what: "one of ours that has expired",
    address: strict,
    tls: { ...trusting, ...ca.issue("me", { days: -1 }) },
    code: "certificate",
    says: refused,
  },
  {
    what: "one of ours that is wrong, where none is needed",
    address: lenient,
    tls: { ...trusting, ...otherCa.issue("me") },
    code: "certificate",
    says: refused,
  },
  {
    what: "TLS on a plain port",
    address: ({ lenient }) => lenient.address,
    tls: trusting,
    code: "unreachable",
    says: /(the server closed the connection|connection reset): it does not seem to speak TLS on this port: give the server's secureClientPort, or leave out the option tls/,
  },
  {
    what: "no TLS on a TLS port",
    address: lenient,
    tls: false,
    code: "unreachable",
    says: /(the server closed the connection|connection reset): it serves nobody at present, or speaks TLS on this port \(option tls\)/,
  },
];
