import { setMaxListeners } from "node:events";
import type { Clock, Ender, Instant } from "../../../src/clock.js";
import { isTimeout, StoreError } from "../../../src/errors.js";
import { Call, type Exchange, endsSession } from "./zookeeper-client-call.js";
import { Codec } from "./zookeeper-client-codec.js";
import { Dialer } from "./zookeeper-client-dialer.js";
import type { Link } from "./zookeeper-client-link.js";
import { loadNodeZooKeeperClient } from "./zookeeper-client-package.js";
import { PendingWatch, type WatchKind } from "./zookeeper-client-watches.js";
import type {
  ClientOptions,
  ConnectZooKeeper,
  CreateMode,
  Operation,
  Watch,
  Watched,
  ZooKeeperClient,
  ZooKeeperStat,
} from "./zookeeper-wire.js";

/**
 * Opens a session on node-zookeeper-client. Rejects with the reason of `signal`; with `unreachable` and what was wrong
 * with each server (`certificate` if that is each one's certificate, or ours); with `auth` if the credentials are refused.
 */
export const connectZooKeeper: ConnectZooKeeper = async (options: ClientOptions, clock: Clock, signal: Ender) => {
  if (signal.aborted) throw signal.reason;
  const pkg = await loadNodeZooKeeperClient();
  const codec = new Codec(options.chroot, options.acl);
  const dialer = new Dialer(pkg, clock, options, codec.closeSession().frame);
  return new Client(codec, dialer, await dialer.first(signal));
};

/** One session: keeps it on some connection, and holds the requests that wait for one. */
class Client implements ZooKeeperClient {
  readonly sessionId: bigint;
  readonly timeout: number;
  readonly #codec: Codec;
  readonly #dialer: Dialer;
  readonly #ended = new AbortController();
  readonly #waiting = new Set<Call>();
  #link: Link;
  #closing: StoreError | undefined;

  constructor(codec: Codec, dialer: Dialer, link: Link) {
    this.#codec = codec;
    this.#dialer = dialer;
    this.#link = this.#own(link);
    setMaxListeners(0, this.#ended.signal);
    this.sessionId = link.resume.id.readBigInt64BE();
    this.timeout = link.resume.timeout;
    void this.#serve();
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  create(path: string, data: Buffer, mode: CreateMode, signal: Ender): Promise<string> {
    return this.#request(() => this.#codec.create(path, data, mode), signal);
  }

  delete(path: string, version: number, signal: Ender): Promise<void> {
    return this.#request(() => this.#codec.delete(path, version), signal);
  }

  getData(path: string, signal: Ender): Promise<{ data: Buffer; stat: ZooKeeperStat }> {
    return this.#request(() => this.#codec.getData(path), signal);
  }

  setData(path: string, data: Buffer, version: number, signal: Ender): Promise<ZooKeeperStat> {
    return this.#request(() => this.#codec.setData(path, data, version), signal);
  }

  getChildren(path: string, signal: Ender): Promise<{ children: string[]; stat: ZooKeeperStat }> {
    return this.#request(() => this.#codec.getChildren(path), signal);
  }

  exists(path: string, signal: Ender): Promise<ZooKeeperStat | null> {
    return this.#request(() => this.#codec.exists(path), signal);
  }

  sync(path: string, signal: Ender): Promise<void> {
    return this.#request(() => this.#codec.sync(path), signal);
  }

  multi(operations: readonly Operation[], signal: Ender): Promise<(string | ZooKeeperStat | null)[]> {
    return this.#request(() => this.#codec.multi(operations), signal);
  }

  prove(path: string, gap: number, signal: Ender): Promise<Instant> {
    return this.#request(() => this.#codec.prove(path, gap), signal);
  }

  watch<K extends WatchKind>(kind: K, path: string, signal: Ender): Watch<Watched[K]> {
    const watch = new PendingWatch<Watched[K]>();
    watch.armed = this.#request(() => this.#codec.watch(kind, path, watch), signal);
    return watch;
  }

  async close(signal: Ender): Promise<void> {
    const closing = this.#closing ?? new StoreError("session-ended", "the session was closed here");
    if (this.#closing === undefined) this.#failPending((this.#closing = closing));
    try {
      while (!this.ended.aborted && !(await this.#closeOnce(signal)));
    } finally {
      this.#end(closing);
    }
    if (this.ended.reason.code === "auth") throw this.ended.reason;
  }

  destroy(): void {
    this.#end(new StoreError("session-ended", "the session was given up here"));
  }

  /** Whether the server has closed the session; a broken connection makes that doubtful, and it is asked again on the next. */
  async #closeOnce(signal: Ender): Promise<boolean> {
    if (signal.aborted) throw signal.reason;
    try {
      await this.#send(this.#codec.closeSession(), signal);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    }
  }

  #request<T>(encode: () => Exchange<T>, signal: Ender): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.ended.aborted) return Promise.reject(this.ended.reason);
    if (this.#closing !== undefined) return Promise.reject(this.#closing);
    try {
      return this.#send(encode(), signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #send<T>(exchange: Exchange<T>, signal: Ender): Promise<T> {
    const call: Call<T> = new Call(exchange, signal, () => {
      this.#waiting.delete(call);
      if (isTimeout(signal.reason)) call.carrier?.suspect(signal.reason, call.sentAt?.mono ?? Number.POSITIVE_INFINITY);
    });
    if (this.#link.over) this.#waiting.add(call);
    else this.#link.send(call);
    return call.promise;
  }

  /** Keeps the session served until it has ended. */
  async #serve(): Promise<void> {
    try {
      for (;;) {
        await this.#link.lost;
        if (this.ended.aborted) return;
        this.#adopt(await this.#dialer.again(this.#link.resume, this.ended));
      }
    } catch (why) {
      this.#end(why as StoreError);
    }
  }

  #own(link: Link): Link {
    link.onLost = (why) => {
      if (endsSession(why)) this.#end(why);
    };
    return link;
  }

  #adopt(link: Link): void {
    // It may have broken again by now: then the next one is dialled.
    if (link.over) return;
    this.#link = this.#own(link);
    for (const call of this.#waiting) link.send(call);
    this.#waiting.clear();
  }

  #failPending(why: StoreError): void {
    this.#link.failPending(why);
    for (const call of this.#waiting) call.fail(why);
    this.#waiting.clear();
  }

  #end(why: StoreError): void {
    if (this.ended.aborted) return;
    this.#link.destroy(why);
    this.#failPending(why);
    this.#ended.abort(why);
  }
}
