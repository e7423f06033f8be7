import { type ConsulOptions, consul as consulStore } from "../../../adapters/consul/index.js";
import { systemClock } from "../../../src/clock.js";
import type { Contender, Session } from "../../../src/store.js";
import { Candidate } from "../../conformance/harness.js";
import { consul } from "../../support/consul.js";
import { call } from "../../support/consul-http.js";
import { type HttpProxy, startHttpProxy } from "../../support/http-proxy.js";
import type { Rule } from "../../support/http-proxy-rules.js";
import { fresh } from "../../support/names.js";
import { PATIENCE, until, within } from "../../support/wait-for.js";

/** A key as the HTTP API shows it, its value decoded. */
export interface Stored {
  readonly key: string;
  readonly value: string;
  readonly session: string | null;
  readonly modifyIndex: number;
}

/**
 * An election on Consul, with candidates that do only what a test says. Nobody renews: so no sweep makes up for a wake-up
 * that was lost, and a test that waits for one fails.
 */
export class Scene {
  readonly prefix = fresh("scene");
  readonly election = "seat";
  readonly options: Partial<ConsulOptions>;
  readonly #address: string;
  readonly #sessions: Session[] = [];
  readonly #proxies: HttpProxy[] = [];
  readonly #over = new AbortController();

  constructor(options: Partial<ConsulOptions> = {}, address = consul) {
    this.#address = address;
    this.options = { ttl: 60_000, lockDelay: 0, ...options };
  }

  /** For calls that nobody gives up. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get base(): string {
    return `${this.prefix}/${this.election}`;
  }

  async proxy(): Promise<HttpProxy> {
    const proxy = await startHttpProxy(Number(this.#address.split(":")[1]));
    this.#proxies.push(proxy);
    return proxy;
  }

  /** A session of a process of its own, by way of `proxy`. */
  async open(proxy?: HttpProxy): Promise<Session> {
    const store = consulStore({ ...this.options, address: proxy?.address ?? this.#address, prefix: this.prefix });
    const session = await store.open({ clock: systemClock }, this.signal);
    this.#sessions.push(session);
    return session;
  }

  /** A candidacy that has sent nothing yet. */
  contend(id: string, session: Session, replaces: Contender | null = null, election = this.election): Candidate {
    return new Candidate(id, session, session.contend(election, { id, metadata: {} }, replaces), this.signal);
  }

  /** A candidate that has joined; by way of `proxy`, or on `session`. */
  async join(id: string, where?: HttpProxy | Session): Promise<Candidate> {
    const session = where && "contend" in where ? where : await this.open(where);
    const candidate = this.contend(id, session);
    await candidate.look();
    return candidate;
  }

  /** One that leads, by way of `proxy` or on `session`. */
  async leader(id: string, where?: HttpProxy | Session): Promise<Candidate> {
    const candidate = await this.join(id, where);
    await candidate.claim();
    return candidate;
  }

  /** As `leader`, of another election. */
  async leaderIn(election: string, proxy?: HttpProxy): Promise<Candidate> {
    const candidate = this.contend("leader", await this.open(proxy), null, election);
    await candidate.claim();
    return candidate;
  }

  /** Waits, by nothing but what wakes it, until `candidate` holds the seat or may claim it; claims it then. Returns its fence. */
  async served(candidate: Candidate): Promise<bigint> {
    for (;;) {
      const place = candidate.place?.kind === "behind" ? await this.#next(candidate) : await candidate.look();
      if (place.kind === "held") return place.fence;
      if (place.kind === "head") return (await candidate.claim()).fence;
      if (place.kind === "gone") throw new Error(`${candidate.id} has gone`);
    }
  }

  async #next(candidate: Candidate) {
    await within(candidate.moved(), PATIENCE, `${candidate.id} is woken`);
    return candidate.look();
  }

  /** All keys of the election, or those that begin with `name` in it. */
  async keys(name = ""): Promise<Stored[]> {
    return this.list(`${this.base}/${name}`);
  }

  async list(prefix: string): Promise<Stored[]> {
    const answer = await call(this.#address, "GET", `/v1/kv/${prefix}?recurse&consistent`);
    if (answer.status === 404) return [];
    const raw = answer.json<{ Key: string; Value: string | null; Session?: string; ModifyIndex: number }[]>();
    return raw.map(({ Key, Value, Session: session, ModifyIndex }) => ({
      key: Key,
      value: Buffer.from(Value ?? "", "base64").toString(),
      session: session ?? null,
      modifyIndex: ModifyIndex,
    }));
  }

  /** The lock: whose it is, null if it is free or missing. */
  async holder(): Promise<string | null> {
    return (await this.keys("leader"))[0]?.session ?? null;
  }

  async fence(): Promise<bigint> {
    return BigInt((await this.keys("term"))[0]?.modifyIndex ?? 0);
  }

  /** Ids of those who wait, in the order of the names. */
  async queue(): Promise<string[]> {
    return (await this.keys("queue/")).map(({ value }) => (JSON.parse(value) as { id: string }).id);
  }

  /** As an operator: removes a key of the election. */
  async remove(name: string): Promise<void> {
    await this.erase(`${this.base}/${name}`);
  }

  async erase(key: string): Promise<void> {
    const { status, text } = await call(this.#address, "DELETE", `/v1/kv/${key}`);
    if (status !== 200) throw new Error(`DELETE ${key}: ${status} ${text}`);
  }

  /** As anybody: a plain write, or with `query` one that takes or frees a lock. */
  async put(key: string, body: string, query = ""): Promise<string> {
    return (await call(this.#address, "PUT", `/v1/kv/${key}${query}`, { body })).text.trim();
  }

  async destroy(session: Session | string): Promise<void> {
    await call(this.#address, "PUT", `/v1/session/destroy/${typeof session === "string" ? session : session.id}`);
  }

  /** Waits until the keys of the election are as `expected` says. */
  async becomes(what: string, expected: () => Promise<boolean>): Promise<void> {
    await until(expected, { every: 10, what });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error("the test is over"));
    const ids = this.#sessions.map(({ id }) => id);
    for (const session of this.#sessions) session.abandon();
    await Promise.all(ids.map((id) => this.destroy(id).catch(() => {})));
    await call(this.#address, "DELETE", `/v1/kv/${this.prefix}/?recurse`).catch(() => {});
    await Promise.all(this.#proxies.map((proxy) => proxy.dispose()));
  }
}

/** Makes an attempt and gives it up as soon as `rule` has met its request. */
export async function givenUp(rule: Rule, attempt: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const giveUp = new AbortController();
  const outcome = attempt(giveUp.signal).then(
    () => new Error("the attempt succeeded"),
    (error: Error) => error,
  );
  await within(rule.hit, PATIENCE, "the request that is to be given up");
  giveUp.abort(GIVEN_UP);
  const error = await outcome;
  if (error !== GIVEN_UP) throw error;
}

const GIVEN_UP = new Error("given up");
