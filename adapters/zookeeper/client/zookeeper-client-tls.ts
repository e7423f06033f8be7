import { isIP } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { certificateFault } from "../../../src/tls-fault.js";
import type { TlsSettings } from "./zookeeper-wire.js";

/** Begins a TLS connection. A certificate that does not hold is never accepted, whatever the environment says. */
export function connectTls(host: string, port: number, tls: TlsSettings): TLSSocket {
  const options: ConnectionOptions = { host, port, secureContext: tls.context, rejectUnauthorized: true };
  // Without a name, the certificate must hold for `host`, be it a name or an address.
  const servername = tls.servername ?? (isIP(host) === 0 ? host : undefined);
  const socket = connect(servername === undefined ? options : { ...options, servername });
  // The option of this name is for plain sockets only.
  return socket.setNoDelay(true);
}

/** Why TLS does not come about, for people; null when the error is none of TLS. */
export interface TlsFault {
  readonly reason: string;
  /** One side does not accept the other's certificate: trying again does not cure it. */
  readonly certificate: boolean;
}

/** Reads an error of a TLS socket. */
export function tlsFault(error: NodeJS.ErrnoException, tls: TlsSettings): TlsFault | null {
  const { code = "" } = error;
  const refused = certificateFault(error, { ownCa: tls.ownCa, ownCert: tls.subject !== null });
  if (refused !== null) return { reason: refused, certificate: true };
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return { reason: `what answers there is not TLS: ${PORT}`, certificate: false };
  if (/^ERR_(SSL|OSSL|TLS)_/.test(code)) return { reason: `the TLS handshake failed (${code})`, certificate: false };
  return null;
}

const PORT = "give the server's secureClientPort, or leave out the option tls";

/** What a server that hangs up before it has answered may mean by it. */
export function hungUp(tls: TlsSettings | null, secured: boolean): string {
  if (tls === null) return "it serves nobody at present, or speaks TLS on this port (option tls)";
  if (!secured) return `it does not seem to speak TLS on this port: ${PORT}`;
  return "it serves nobody at present, or wants another certificate of us (tls.cert)";
}
