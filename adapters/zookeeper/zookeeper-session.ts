import type { Clock, Ender } from "../../src/clock.js";
import type { Card, Contender, Evicted, Leader, Proof, Seen, Session, Standing, Survey } from "../../src/store.js";
import type { ZooKeeperClient } from "./client/zookeeper-wire.js";
import { Calm } from "./zookeeper-calm.js";
import { ZooKeeperContender } from "./zookeeper-contender.js";
import { leaderChanged, readLeader, readStandings, sessionName } from "./zookeeper-observe.js";
import { evictEntry, readElections, readSurvey } from "./zookeeper-operators.js";
import type { Settings } from "./zookeeper-options.js";
import { electionPaths } from "./zookeeper-paths.js";
import { Requests, tolerate } from "./zookeeper-requests.js";

/** One session: one client object, for life. */
export class ZooKeeperSession implements Session {
  readonly id: string;
  readonly ttl: number;
  /**
   * A server tells the ensemble leader about its clients' signs of life on every half tick at the latest. Without
   * `tickTime` that is at most a quarter of the session timeout, which is two ticks or more unless the servers were told otherwise.
   */
  readonly gap: number;
  readonly ended: AbortSignal;
  readonly #client: ZooKeeperClient;
  readonly #requests: Requests;
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #calm: Calm;

  constructor(client: ZooKeeperClient, settings: Settings, clock: Clock) {
    this.#client = client;
    this.#requests = new Requests(client, settings.identity);
    this.#settings = settings;
    this.#clock = clock;
    this.#calm = new Calm(clock);
    this.id = sessionName(client.sessionId);
    this.ttl = client.timeout;
    this.gap = (settings.tickTime === null ? client.timeout / 4 : settings.tickTime / 2) + 100;
    this.ended = client.ended;
  }

  async prove(signal: Ender): Promise<Proof> {
    return { vouchedAt: await this.#client.prove(this.#root, this.gap, signal) };
  }

  /** Any answer will do. */
  async touch(signal: Ender): Promise<null> {
    await tolerate(this.#requests.exists(this.#root, signal), "NOAUTH");
    return null;
  }

  contend(election: string, card: Card, replaces: Contender | null): Contender {
    const { chroot } = this.#settings;
    const around = { requests: this.#requests, clock: this.#clock, paths: this.#paths(election), chroot, calm: this.#calm };
    return new ZooKeeperContender(around, card, replaces instanceof ZooKeeperContender ? replaces : null);
  }

  leader(election: string, signal: Ender): Promise<Leader | null> {
    return readLeader(this.#requests, this.#paths(election), signal);
  }

  queue(election: string, signal: Ender): Promise<Standing[]> {
    return readStandings(this.#requests, this.#paths(election), signal);
  }

  changed(election: string, seen: Leader | null, signal: Ender): Promise<void> {
    return leaderChanged(this.#requests, this.#paths(election), seen, signal);
  }

  elections(signal: Ender): Promise<string[] | null> {
    return readElections(this.#requests, this.#root, signal);
  }

  survey(election: string, signal: Ender): Promise<Survey | null> {
    return readSurvey(this.#requests, this.#paths(election), signal);
  }

  evict(election: string, standing: Seen, stead: Card | null, signal: Ender): Promise<Evicted | null> {
    return evictEntry(this.#requests, this.#paths(election), standing, stead, signal);
  }

  close(signal: Ender): Promise<void> {
    return this.#client.close(signal);
  }

  abandon(): void {
    this.#client.destroy();
  }

  get #root(): string {
    return this.#settings.base || "/";
  }

  #paths(election: string) {
    return electionPaths(this.#settings.base, election);
  }
}
