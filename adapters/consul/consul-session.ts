import { type Clock, type Ender, instant } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import type { Card, Contender, Evicted, Leader, Proof, Seen, Session, Standing, Survey } from "../../src/store.js";
import type { ConsulClient } from "./client/consul-wire.js";
import { Background } from "./consul-background.js";
import { ConsulContender } from "./consul-contender.js";
import { Epoch } from "./consul-epoch.js";
import { Lifetime, waiting } from "./consul-lifetime.js";
import { leaderChanged, readElections, readLeader, readStandings, readSurvey } from "./consul-observe.js";
import { Operators } from "./consul-operators.js";
import type { Settings } from "./consul-options.js";
import { anchor, electionPaths } from "./consul-paths.js";
import { Requests } from "./consul-requests.js";
import type { SessionParts } from "./consul-surroundings.js";

/** A session as it was made, with its two keys. */
export interface Made {
  readonly id: string;
  /** ModifyIndex of both keys. */
  readonly index: number;
}

/** One session: one client object, for life. */
export class ConsulSession implements Session {
  readonly id: string;
  readonly ttl: number;
  /** A renewal vouches for the moment before it was sent. */
  readonly gap = 0;
  readonly #client: ConsulClient;
  readonly #lifetime = new Lifetime();
  readonly #background: Background;
  readonly #operators: Operators;
  readonly #parts: SessionParts;

  constructor(client: ConsulClient, settings: Settings, clock: Clock, { id, index }: Made) {
    this.id = id;
    this.ttl = settings.ttl;
    this.#client = client;
    const { prefix, lockDelay } = settings;
    const requests = new Requests(client, this.#lifetime, id);
    this.#background = new Background({ client, clock, requests, prefix, session: id, index, ttl: settings.ttl });
    const { mailbox, neighbours, locks, sweep } = this.#background;
    const epoch = new Epoch(requests, anchor(prefix, id), id, index);
    let count = 0;
    const common = { clock, prefix, lockDelay, session: id, anchor: index, lifetime: this.#lifetime, requests, epoch };
    this.#parts = { ...common, mailbox, neighbours, locks, sweep, seated: new Map(), nextCount: () => ++count };
    this.#operators = new Operators(this.#parts);
  }

  get ended(): AbortSignal {
    return this.#lifetime.signal;
  }

  async prove(signal: Ender): Promise<Proof> {
    const vouchedAt = instant(this.#parts.clock);
    const renewal = this.#background.renewing();
    const alive = await waiting<boolean>(this.#lifetime, signal, (resolve, reject) => {
      const giveUp = new AbortController();
      this.#client.renewSession(this.id, giveUp.signal).then(resolve, reject);
      return () => giveUp.abort(signal.aborted ? signal.reason : SETTLED);
    });
    if (!alive) this.#lifetime.end("the store has ended the session, or was restored to a time before it");
    this.#lifetime.check();
    renewal.answered();
    return { vouchedAt };
  }

  /** A renewal is as cheap as any sign of life, and vouches. */
  touch(signal: Ender): Promise<Proof> {
    return this.prove(signal);
  }

  contend(election: string, card: Card, replaces: Contender | null): Contender {
    const around = { ...this.#parts, paths: electionPaths(this.#parts.prefix, election) };
    return new ConsulContender(around, card, replaces instanceof ConsulContender ? replaces : null);
  }

  leader(election: string, signal: Ender): Promise<Leader | null> {
    return readLeader(this.#parts, election, signal);
  }

  queue(election: string, signal: Ender): Promise<Standing[]> {
    return readStandings(this.#parts, election, signal);
  }

  changed(election: string, seen: Leader | null, signal: Ender): Promise<void> {
    return leaderChanged(this.#parts, this.#client, election, seen, signal);
  }

  elections(signal: Ender): Promise<string[] | null> {
    return readElections(this.#parts, this.#client, signal);
  }

  survey(election: string, signal: Ender): Promise<Survey | null> {
    return readSurvey(this.#parts, election, signal);
  }

  evict(election: string, standing: Seen, stead: Card | null, signal: Ender): Promise<Evicted | null> {
    return this.#operators.evict(election, standing, stead, signal);
  }

  async close(signal: Ender): Promise<void> {
    this.#lifetime.check();
    this.#background.close();
    try {
      await this.#client.destroySession(this.id, signal);
    } finally {
      this.#end("the session was closed");
    }
  }

  abandon(): void {
    this.#end("the session was abandoned");
  }

  #end(why: string): void {
    this.#lifetime.end(why);
    this.#background.close();
    this.#client.destroy();
  }
}

const SETTLED = new StoreError("session-ended", "not awaited any more");
