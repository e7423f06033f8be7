import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { bits, bytes, explicit, integer, moment, octets, oid, sequence, set, text, yes } from "./der.js";

/** A certificate and its key, both PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateRequest {
  /** Subject alternative names: host names and IPv4 addresses. Default: none. */
  readonly names?: readonly string[];
  /** From today; negative: in the past. Default 2. */
  readonly days?: number;
  /** Of the key: it is encrypted then. */
  readonly passphrase?: string;
}

const DAY = 86_400_000;
const OIDS = {
  organization: "2.5.4.10",
  commonName: "2.5.4.3",
  names: "2.5.29.17",
  constraints: "2.5.29.19",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
};

/**
 * A certificate authority of one test run. It writes its certificates by itself: Node can sign but not make them, and keytool,
 * which comes with a JDK only, gives no key away.
 */
export class Authority {
  readonly name: string;
  readonly cert: string;
  readonly #key: KeyObject;

  constructor(name: string) {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.name = name;
    this.#key = privateKey;
    this.cert = this.#certify(name, publicKey, 2, extension(OIDS.constraints, sequence(yes()), true));
  }

  /** A certificate for `name` (O=acme, CN=`name`), and its key. */
  issue(name: string, { names = [], days = 2, passphrase }: CertificateRequest = {}): Identity {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const cert = this.#certify(name, publicKey, days, names.length === 0 ? null : extension(OIDS.names, sequence(...names.map(otherName))));
    const cipher = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
    return { cert, key: privateKey.export({ type: "pkcs8", format: "pem", ...cipher }) as string };
  }

  #certify(name: string, publicKey: KeyObject, days: number, more: Buffer | null): string {
    const end = Date.now() + days * DAY;
    const algorithm = sequence(oid(OIDS.ecdsaWithSha256));
    const body = sequence(
      explicit(0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      algorithm,
      distinguished(this.name),
      sequence(moment(new Date(Math.min(Date.now(), end) - DAY)), moment(new Date(end))),
      distinguished(name),
      publicKey.export({ type: "spki", format: "der" }),
      ...(more === null ? [] : [explicit(3, sequence(more))]),
    );
    return pem("CERTIFICATE", sequence(body, algorithm, bits(sign("sha256", body, this.#key))));
  }
}

/** O=acme, CN=`name`; nothing at all for an empty name. */
function distinguished(name: string): Buffer {
  if (name === "") return sequence();
  const parts = [sequence(oid(OIDS.organization), text("acme")), sequence(oid(OIDS.commonName), text(name))];
  return sequence(...parts.map((part) => set(part)));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [yes()] : []), octets(value));
}

/** A GeneralName: an address or a host name. */
function otherName(name: string): Buffer {
  return /^[\d.]+$/.test(name) ? bytes(0x87, Buffer.from(name.split(".").map(Number))) : bytes(0x82, Buffer.from(name));
}

function pem(what: string, der: Buffer): string {
  return `-----BEGIN ${what}-----\n${(der.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END ${what}-----\n`;
}
