import { type Clock, elapsed, type Instant, instant } from "../../src/clock.js";
import type { ConsulClient, Operation } from "./client/consul-wire.js";
import { NEVER } from "./consul-lifetime.js";
import { Locks } from "./consul-locks.js";
import { Mailbox } from "./consul-mailbox.js";
import { Neighbours } from "./consul-neighbours.js";
import { anchor, sessionKey } from "./consul-paths.js";
import { unique } from "./consul-record.js";
import { isRefused, type Requests } from "./consul-requests.js";
import { Sweep } from "./consul-sweep.js";
import { KeyWatches } from "./consul-watches.js";

export interface BackgroundOptions {
  readonly client: ConsulClient;
  readonly clock: Clock;
  readonly requests: Requests;
  readonly prefix: string;
  readonly session: string;
  /** ModifyIndex of the session's two keys. */
  readonly index: number;
  /** ms */
  readonly ttl: number;
}

/** Queries are asked anew at most once in so many ms, however many calls say that they may be blind. */
const REOPEN_PACE = 1000;

/** What runs behind a session: the queries that wait for news, the sweep, and the care for the session's own keys. */
export class Background {
  readonly mailbox: Mailbox;
  readonly neighbours: Neighbours;
  readonly locks: Locks;
  readonly sweep: Sweep;
  readonly #options: BackgroundOptions;
  /** Renewals that have been sent and not answered, and came before one that was. */
  readonly #pending = new Set<object>();
  #reopened: Instant;
  #cleared: Instant;

  constructor(options: BackgroundOptions) {
    const { client, clock, requests, prefix, session, index, ttl } = options;
    this.#options = options;
    this.#reopened = instant(clock);
    this.#cleared = instant(clock);
    const fell = () => this.sweep.run(true);
    this.sweep = new Sweep(requests, clock, ttl);
    this.mailbox = new Mailbox(client, clock, { prefix, session, index }, { fell, full: () => this.#deleteLetters() });
    this.neighbours = new Neighbours(client, clock, prefix, fell);
    this.locks = new Locks(new KeyWatches(client, clock, fell));
    client.onServerError = () => this.#reopen();
  }

  /** A renewal is about to be sent. `answered`: to be called when it was. */
  renewing(): { answered(): void } {
    const pending = new Set(this.#pending);
    const renewal = {};
    this.#pending.add(renewal);
    return {
      answered: () => {
        this.#pending.delete(renewal);
        // One that was sent before and is still not answered has been swallowed, by a frozen server say: queries as old as that one are blind.
        const overtaken = [...pending].filter((each) => this.#pending.delete(each));
        if (overtaken.length > 0) this.#reopen();
        this.#tidy();
      },
    };
  }

  close(): void {
    this.#options.client.onServerError = null;
    this.mailbox.close();
    this.neighbours.close();
    this.locks.close();
  }

  #tidy(): void {
    const { clock, ttl } = this.#options;
    this.sweep.run(false);
    void this.#keepKeys();
    if (elapsed(clock, this.#cleared) >= ttl) this.#deleteLetters();
  }

  #reopen(): void {
    const { clock } = this.#options;
    if (elapsed(clock, this.#reopened) < REOPEN_PACE) return;
    this.#reopened = instant(clock);
    this.mailbox.reopen();
    this.neighbours.reopen();
    this.locks.reopen();
  }

  #deleteLetters(): void {
    const { requests, clock } = this.#options;
    this.#cleared = instant(clock);
    // Each by itself: one that has been written anew must not keep the others. One that stays is read again, and deleted with the next.
    for (const operation of this.mailbox.takeRead()) requests.write([operation], NEVER).catch(() => {});
  }

  /** An operator may have removed the keys by which others know that this session lives. */
  async #keepKeys(): Promise<void> {
    const { requests, prefix, session } = this.#options;
    const keys = [sessionKey(prefix, session), anchor(prefix, session)];
    try {
      await requests.read(
        keys.map((key): Operation => ({ verb: "check-session", key, session })),
        NEVER,
      );
    } catch (error) {
      if (!isRefused(error, "check")) return;
      const locks = keys.map((key): Operation => ({ verb: "lock", key, value: unique(), session }));
      await requests.write(locks, NEVER).catch(() => {});
    }
  }
}
