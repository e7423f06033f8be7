import type { OpenRequest, Session, Store } from "../../src/store.js";
import type { ConnectZooKeeper } from "./client/zookeeper-wire.js";
import type { Settings } from "./zookeeper-options.js";
import { ZooKeeperSession } from "./zookeeper-session.js";

/** An ensemble on which elections are held. Nothing is connected before the first `open`. */
export class ZooKeeperStore implements Store {
  readonly name: string;
  readonly #settings: Settings;
  readonly #connect: ConnectZooKeeper;

  constructor(settings: Settings, connect: ConnectZooKeeper) {
    this.name = settings.name;
    this.#settings = settings;
    this.#connect = connect;
  }

  async open({ clock }: OpenRequest, signal: AbortSignal): Promise<Session> {
    const client = await this.#connect(this.#settings.client, clock, signal);
    return new ZooKeeperSession(client, this.#settings, clock);
  }
}
