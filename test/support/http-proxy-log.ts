import type { IncomingMessage } from "node:http";

/** An operation of a transaction. */
export interface LoggedOperation {
  readonly verb: string;
  readonly key: string;
  /** "" if there is none. */
  readonly session: string;
  /** Decoded; "" if there is none. */
  readonly value: string;
  /** null if there is none */
  readonly index: number | null;
}

/** A request that came from a client, whatever became of it. */
export interface LoggedRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Of a transaction; else none. */
  readonly operations: readonly LoggedOperation[];
  /** When it had come as a whole, by process.hrtime. */
  readonly at: bigint;
  /** What the server answered (or a rule in its place), whether or not the client was told; null: nothing yet. */
  readonly status: number | null;
  /** The X-Consul-Index of that answer. */
  readonly index: number | null;
  /** When that answer had come as a whole. */
  readonly answeredAt: bigint | null;
}

export class Entry implements LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly operations: readonly LoggedOperation[];
  readonly at = process.hrtime.bigint();
  status: number | null = null;
  index: number | null = null;
  answeredAt: bigint | null = null;

  constructor(request: IncomingMessage, body: Buffer) {
    const url = new URL(request.url as string, "http://proxy");
    this.method = request.method as string;
    this.path = decodeURIComponent(url.pathname);
    this.query = Object.fromEntries(url.searchParams);
    this.headers = request.headers;
    this.body = body.toString();
    this.operations = this.path === "/v1/txn" ? operations(this.body) : [];
  }

  answered(status: number, index?: string): void {
    this.status = status;
    this.index = index === undefined ? null : Number(index);
    this.answeredAt = process.hrtime.bigint();
  }
}

interface RawOperation {
  readonly KV?: { Verb?: string; Key?: string; Session?: string; Value?: string; Index?: number };
}

function operations(body: string): LoggedOperation[] {
  try {
    return (JSON.parse(body) as RawOperation[]).map(({ KV = {} }) => ({
      verb: KV.Verb ?? "",
      key: KV.Key ?? "",
      session: KV.Session ?? "",
      value: Buffer.from(KV.Value ?? "", "base64").toString(),
      index: KV.Index ?? null,
    }));
  } catch {
    return [];
  }
}
