import type { BlockingQuery, ConsulClient, Found, NewSession, Operation, Result } from "../../../adapters/consul/client/consul-wire.js";
import type { Clock, Ender } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import type { ModelServer } from "./model-server.js";

/** As the real client's requestTimeout, ms. */
const TIMEOUT = 10_000;

type Call = "renew" | "transact" | "query" | "other";

/** What befalls the ways of one process to Consul. Each request has a connection of its own: they overtake each other. */
export class ModelNetwork {
  /** One way, ms, at most. */
  latency = 0;
  readonly #server: ModelServer;
  readonly #roll: () => number;
  readonly #held: (() => void)[] = [];
  #cut = false;
  #holdsRequests = false;
  #holdsReplies = false;
  #losing = 0;
  #late = { count: 0, ms: 0 };
  #crashed = false;

  constructor(server: ModelServer, roll: () => number) {
    this.#server = server;
    this.#roll = roll;
  }

  /** `clock`: of the process. */
  client(clock: Clock): ConsulClient {
    return new ModelClient(this.#server, this, clock);
  }

  /** Nothing passes. What was sent meanwhile may still arrive when it is healed: TCP repeats it, whoever has given up. */
  partition(): void {
    this.#cut = true;
  }

  heal(): void {
    this.#cut = false;
    this.#pass();
  }

  holdRequests(): void {
    this.#holdsRequests = true;
  }

  holdReplies(): void {
    this.#holdsReplies = true;
  }

  release(): void {
    this.#holdsRequests = false;
    this.#holdsReplies = false;
    if (!this.#cut) this.#pass();
  }

  /** The next transaction is done, and its answer gets lost. */
  loseReply(): void {
    this.#losing++;
  }

  /** The next transactions arrive only after `ms`: others overtake them, and whoever sent them may have given up. */
  late(count: number, ms: number): void {
    this.#late = { count, ms };
  }

  crash(): void {
    this.#crashed = true;
  }

  toServer(call: Call, act: () => void): void {
    if (call === "transact" && this.#late.count > 0) {
      this.#late.count--;
      this.#server.clock.after(this.#late.ms, () => !this.#crashed && act());
    } else this.#travel(act, this.#holdsRequests);
  }

  toClient(call: Call, act: () => void, lost: () => void): void {
    if (this.#losing > 0 && call === "transact") {
      this.#losing--;
      return this.#travel(lost, this.#holdsReplies);
    }
    this.#travel(act, this.#holdsReplies);
  }

  #travel(act: () => void, held: boolean): void {
    if (this.#crashed) return;
    if (held || this.#cut) {
      // A packet in a hundred is enough to know that it may.
      if (!this.#cut || this.#roll() < 0.5) this.#held.push(act);
      return;
    }
    const later = this.latency * this.#roll();
    this.#server.clock.after(later, () => {
      if (this.#cut || this.#crashed) return;
      act();
    });
  }

  #pass(): void {
    for (const act of this.#held.splice(0)) if (!this.#crashed) this.#server.clock.after(this.latency * this.#roll(), act);
  }
}

class ModelClient implements ConsulClient {
  onServerError: (() => void) | null = null;
  readonly #server: ModelServer;
  readonly #network: ModelNetwork;
  readonly #clock: Clock;
  readonly #pending = new Set<(error: StoreError) => void>();
  #destroyed = false;

  constructor(server: ModelServer, network: ModelNetwork, clock: Clock) {
    this.#server = server;
    this.#network = network;
    this.#clock = clock;
  }

  createSession(session: NewSession, signal: Ender): Promise<string> {
    return this.#call("other", signal, () => this.#server.createSession(session));
  }

  renewSession(id: string, signal: Ender): Promise<boolean> {
    return this.#call("renew", signal, () => this.#server.renew(id));
  }

  async destroySession(id: string, signal: Ender): Promise<void> {
    await this.#call("other", signal, () => this.#server.destroy(id));
  }

  transact(operations: readonly Operation[], signal: Ender): Promise<Result[]> {
    return this.#call("transact", signal, () => this.#server.transact(operations));
  }

  query(query: BlockingQuery, signal: Ender): Promise<Found> {
    const patience = (query.wait * 17) / 16 + 2000;
    return this.#call("query", signal, (answer: (found: Found) => void) => this.#server.query(query, answer), patience);
  }

  names(prefix: string, signal: Ender): Promise<string[]> {
    return this.#call("other", signal, () => {
      const names = this.#server.state.tree(prefix).map(({ key }) => {
        const end = key.indexOf("/", prefix.length);
        return end < 0 ? key : key.slice(0, end + 1);
      });
      return [...new Set(names)];
    });
  }

  async registerNode(): Promise<void> {}

  destroy(): void {
    this.#destroyed = true;
    for (const fail of [...this.#pending]) fail(new StoreError("connection-lost", "the client was closed"));
  }

  /** `serve` runs at the server, whether the caller still waits or not. Of a query it answers later. */
  #call<T>(call: Call, signal: Ender, serve: ((answer: (value: T) => void) => unknown) | (() => T), patience = TIMEOUT): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#destroyed) return reject(new StoreError("connection-lost", "the client was closed"));
      if (signal.aborted) return reject(signal.reason);
      const settle = (act: () => void) => {
        if (!this.#pending.delete(fail)) return;
        signal.removeEventListener("abort", onAbort);
        timer.cancel();
        act();
      };
      const fail = (error: unknown) => settle(() => reject(error));
      const onAbort = () => fail(signal.reason);
      this.#pending.add(fail);
      const timer = this.#clock.after(patience, () => fail(new StoreError("timeout", "no answer")));
      signal.addEventListener("abort", onAbort, { once: true });
      const lost = () => fail(new StoreError("connection-lost", "the answer was lost"));
      const reply = (act: () => void) => this.#network.toClient(call, act, lost);
      const answer = (value: T) => reply(() => settle(() => resolve(value)));
      const refuse = (error: unknown, by500 = false) =>
        reply(() => {
          if (by500) this.onServerError?.();
          fail(error);
        });
      const act = () => {
        try {
          if (call === "query") (serve as (answer: (value: T) => void) => unknown)(answer);
          else answer((serve as () => T)());
        } catch (error) {
          refuse(error);
        }
      };
      this.#network.toServer(call, () => this.#server.serve(act, (error) => refuse(error, true)));
    });
  }
}
