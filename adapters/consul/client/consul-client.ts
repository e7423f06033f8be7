import { EventEmitter } from "node:events";
import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import type { Clock, Ender } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import { decodeEntries, decodeRefusals, decodeResults, encodeTransaction, type RawTransaction } from "./consul-client-codec.js";
import { answerError, filteredError, responseOf, transportError } from "./consul-client-error.js";
import { loadPackage, type Package, type PackageOptions, type PackageRequest, type PackageResponse } from "./consul-client-package.js";
import {
  type BlockingQuery,
  type ClientOptions,
  type ConsulClient,
  type Found,
  type NewSession,
  type Operation,
  type Result,
  TransactionRefused,
} from "./consul-wire.js";

/** Connections for renewals, and for all other calls that are no blocking queries. Of those each has one while it is open. */
const RENEWALS = 4;
const REQUESTS = 4;

interface Call {
  readonly what: string;
  readonly method: "get" | "put";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** ms */
  readonly timeout?: number;
  /** Answers that are none of an error. */
  readonly expects?: readonly number[];
}

/** Connects to nothing yet. Throws a StoreError when the package is not there. */
export async function connectConsul(options: ClientOptions, _clock: Clock): Promise<ConsulClient> {
  return new Client(options, await loadPackage());
}

/** A way to the agent: its own connections. */
interface Lane {
  readonly client: Package;
  readonly agent: Agent;
}

/**
 * The one place that knows the `consul` package. It closes its holes: every call has a timeout and can be given up, which closes its
 * socket; nothing is ever asked with `stale` (a renewal that a follower answers renews nothing); errors are told by status and body.
 */
class Client implements ConsulClient {
  onServerError: (() => void) | null = null;
  readonly #options: ClientOptions;
  readonly #renewals: Lane;
  readonly #requests: Lane;
  readonly #queries: Lane;
  readonly #common: Readonly<Record<string, string>>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pending = new Set<(reason: StoreError) => void>();
  #destroyed: StoreError | null = null;

  constructor(options: ClientOptions, Consul: Awaited<ReturnType<typeof loadPackage>>) {
    this.#options = options;
    const lane = (sockets: number): Lane => {
      const given = laneOptions(options, sockets);
      return { client: new Consul(given), agent: given.agent };
    };
    this.#renewals = lane(RENEWALS);
    this.#requests = lane(REQUESTS);
    this.#queries = lane(Number.POSITIVE_INFINITY);
    const { datacenter, namespace, partition, token } = options;
    const common = { dc: datacenter, ns: namespace, partition };
    this.#common = Object.fromEntries(Object.entries(common).filter((pair): pair is [string, string] => pair[1] !== null));
    this.#headers = token === null ? {} : { "x-consul-token": token };
  }

  async createSession({ ttl, lockDelay, name, node, checks }: NewSession, signal: Ender): Promise<string> {
    const session = {
      Name: name,
      TTL: `${ttl}ms`,
      // Text: a number below 1000 counts as seconds, and the package leaves 0 out, which means 15 s.
      LockDelay: `${lockDelay}ms`,
      Behavior: "delete",
      // None of its own, or the default check would be bound too.
      ...(checks.length === 0 ? { Checks: [] } : { NodeChecks: checks }),
      ...(node === null ? {} : { Node: node }),
    };
    const body = Buffer.from(JSON.stringify(session));
    const answer = await this.#call(this.#requests, { what: "session/create", method: "put", path: "/session/create", body }, signal);
    return (answer.body as { ID: string }).ID;
  }

  async renewSession(id: string, signal: Ender): Promise<boolean> {
    const call = { what: "session/renew", method: "put", path: `/session/renew/${id}`, expects: [404] } as const;
    return (await this.#call(this.#renewals, call, signal)).statusCode !== 404;
  }

  async destroySession(id: string, signal: Ender): Promise<void> {
    await this.#call(this.#requests, { what: "session/destroy", method: "put", path: `/session/destroy/${id}` }, signal);
  }

  async transact(operations: readonly Operation[], signal: Ender): Promise<Result[]> {
    const body = encodeTransaction(operations, this.#options);
    const call = { what: "txn", method: "put", path: "/txn", query: { consistent: "" }, body, expects: [409] } as const;
    const answer = await this.#call(this.#requests, call, signal);
    if (answer.statusCode !== 409) {
      const body = answer.body as RawTransaction;
      // Else it would look as if nobody stood there.
      if (body.ResultsFilteredByACLs) throw filteredError("txn", operations[0]?.key.replace(/[^/]*$/, "") ?? "");
      return decodeResults(operations, body);
    }
    const refusals = typeof answer.body === "object" ? decodeRefusals(answer.body as RawTransaction) : [];
    if (refusals.length === 0) throw answerError("txn", answer, this.#options.token !== null);
    throw new TransactionRefused(refusals);
  }

  async query({ key, recurse, index, wait }: BlockingQuery, signal: Ender): Promise<Found> {
    const query = { index: String(index), wait: `${wait}ms`, ...(recurse ? { recurse: "" } : {}) };
    // The server adds up to a sixteenth.
    const timeout = (wait * 17) / 16 + 2000;
    const answer = await this.#call(
      this.#queries,
      { what: "query", method: "get", path: `/kv/${key}`, query, timeout, expects: [404] },
      signal,
    );
    const next = Number(answer.headers["x-consul-index"]);
    if (!Number.isSafeInteger(next)) throw new StoreError("rejected", "query: the answer has no X-Consul-Index: is that Consul?");
    return { index: next, entries: answer.statusCode === 404 ? [] : decodeEntries(answer.body) };
  }

  async names(prefix: string, signal: Ender): Promise<string[]> {
    const query = { keys: "", separator: "/", consistent: "" };
    const answer = await this.#call(this.#requests, { what: "keys", method: "get", path: `/kv/${prefix}`, query, expects: [404] }, signal);
    if (answer.headers["x-consul-results-filtered-by-acls"] === "true") throw filteredError("keys", prefix);
    return answer.statusCode === 404 ? [] : (answer.body as string[]);
  }

  async registerNode(node: string, signal: Ender): Promise<void> {
    const there = await this.#call(
      this.#requests,
      { what: "catalog/node", method: "get", path: `/catalog/node/${node}`, query: { consistent: "" } },
      signal,
    );
    if (there.body !== null && there.body !== undefined && textOrNull(there.body) !== "null") return;
    // Not an address of anything: the node is there for sessions only, and is as alive as they are.
    const body = Buffer.from(JSON.stringify({ Node: node, Address: "127.0.0.1", NodeMeta: { "external-node": "true" } }));
    await this.#call(this.#requests, { what: "catalog/register", method: "put", path: "/catalog/register", body }, signal);
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = new StoreError("connection-lost", "the client was closed");
    for (const end of [...this.#pending]) end(this.#destroyed);
    for (const { agent } of [this.#renewals, this.#requests, this.#queries]) agent.destroy();
  }

  #call({ client }: Lane, call: Call, signal: Ender): Promise<PackageResponse> {
    const { what, method, path, query, body, timeout = this.#options.requestTimeout, expects = [] } = call;
    return new Promise((resolve, reject) => {
      if (this.#destroyed) return reject(this.#destroyed);
      if (signal.aborted) return reject(signal.reason);
      const ctx = new EventEmitter();
      const settle = () => {
        this.#pending.delete(end);
        signal.removeEventListener("abort", onAbort);
      };
      const end = (reason: unknown) => {
        settle();
        reject(reason);
        ctx.emit("cancel");
      };
      const onAbort = () => end(signal.reason);
      this.#pending.add(end);
      signal.addEventListener("abort", onAbort, { once: true });
      const request: PackageRequest = {
        path,
        query: { ...this.#common, ...query },
        headers: this.#headers,
        timeout,
        ctx,
        ...(body === undefined ? {} : { body }),
      };
      (method === "get" ? client._get(request) : client._put(request)).then(
        (answer) => {
          settle();
          resolve(answer);
        },
        (error) => {
          settle();
          const answer = responseOf(error);
          if (answer && answer.statusCode >= 500) this.onServerError?.();
          if (answer && expects.includes(answer.statusCode)) resolve(answer);
          else reject(answer ? answerError(what, answer, this.#options.token !== null) : transportError(what, this.#options, error));
        },
      );
    });
  }
}

function textOrNull(body: unknown): string | null {
  return Buffer.isBuffer(body) || typeof body === "string" ? String(body).trim() : null;
}

function laneOptions({ address, tls }: ClientOptions, sockets: number): PackageOptions {
  const maxSockets = { keepAlive: true, maxSockets: sockets };
  if (address.startsWith("unix://")) {
    const socketPath = address.slice("unix://".length);
    return { baseUrl: "http://localhost/v1", socketPath, agent: new Agent(maxSockets) };
  }
  const baseUrl = `${address}/v1`;
  if (!address.startsWith("https://")) return { baseUrl, agent: new Agent(maxSockets) };
  const { ca, cert, key, passphrase, servername, verify = true } = tls ?? {};
  const given = Object.fromEntries(Object.entries({ ca, cert, key, passphrase, servername }).filter(([, value]) => value !== undefined));
  return { baseUrl, agent: new SecureAgent({ ...maxSockets, ...given, rejectUnauthorized: verify }) };
}
