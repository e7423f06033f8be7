import type { Clock, Ender } from "../../src/clock.js";
import type { OpenRequest, Session, Store } from "../../src/store.js";
import type { ClientOptions, ConsulClient, Entry, Operation } from "./client/consul-wire.js";
import type { Settings } from "./consul-options.js";
import { anchor, sessionKey } from "./consul-paths.js";
import { unique } from "./consul-record.js";
import { asStoreError } from "./consul-requests.js";
import { ConsulSession, type Made } from "./consul-session.js";

/** A Consul cluster on which elections are held. Nothing is connected before the first `open`. */
export class ConsulStore implements Store {
  readonly name: string;
  readonly #settings: Settings;
  readonly #connect: (clock: Clock) => Promise<ConsulClient>;

  constructor(settings: Settings, connect = lazily) {
    this.name = settings.name;
    this.#settings = settings;
    this.#connect = (clock) => connect(settings.client, clock);
  }

  async open({ clock }: OpenRequest, signal: Ender): Promise<Session> {
    const client = await this.#connect(clock);
    try {
      if (signal.aborted) throw signal.reason;
      return new ConsulSession(client, this.#settings, clock, await this.#make(client, signal));
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  /** A session without its two keys is none: others know by them that it lives, and how to write to it. */
  async #make(client: ConsulClient, signal: Ender): Promise<Made> {
    const { prefix, ttl, lockDelay, node, checks } = this.#settings;
    if (node !== null) await client.registerNode(node, signal);
    const id = await client.createSession({ ttl, lockDelay, node, checks, name: `tenure ${prefix}` }, signal);
    const keys = [sessionKey(prefix, id), anchor(prefix, id)];
    try {
      const locks = keys.map((key): Operation => ({ verb: "lock", key, value: unique(), session: id }));
      const [entry] = await client.transact(locks, signal);
      return { id, index: (entry as Entry).modifyIndex };
    } catch (error) {
      // Nobody uses it: the store ends it by its ttl if this fails.
      await client.destroySession(id, signal).catch(() => {});
      throw asStoreError(error);
    }
  }
}

async function lazily(options: ClientOptions, clock: Clock): Promise<ConsulClient> {
  const { connectConsul } = await import("./client/consul-client.js");
  return connectConsul(options, clock);
}
