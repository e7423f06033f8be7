import type { Ender } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import type { OpenRequest, Session, Store } from "../../src/store.js";
import type { ConnectZooKeeper } from "./client/zookeeper-wire.js";
import type { Settings } from "./zookeeper-options.js";
import { ZooKeeperSession } from "./zookeeper-session.js";

/** An ensemble on which elections are held. Nothing is connected before the first `open`. */
export class ZooKeeperStore implements Store {
  readonly name: string;
  readonly #settings: Settings;
  readonly #connect: ConnectZooKeeper;
  #served = false;

  constructor(settings: Settings, connect: ConnectZooKeeper) {
    this.name = settings.name;
    this.#settings = settings;
    this.#connect = connect;
  }

  async open({ clock }: OpenRequest, signal: Ender): Promise<Session> {
    try {
      const client = await this.#connect(this.#settings.client, clock, signal);
      this.#served = true;
      return new ZooKeeperSession(client, this.#settings, clock);
    } catch (error) {
      throw this.#served ? mayPass(error) : error;
    }
  }
}

/** Certificates that were good once are renewed by somebody: one that has run out must not stop every candidate for good. */
function mayPass(error: unknown): unknown {
  if (!(error instanceof StoreError && error.code === "certificate")) return error;
  return new StoreError(error.code, error.message, { cause: error, transient: true });
}
