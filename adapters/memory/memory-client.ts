import type { Ender } from "../../src/clock.js";
import { StoreError } from "../../src/errors.js";
import type { OpenRequest, Session, Store } from "../../src/store.js";
import { type Fault, type MemoryCall, MemoryFaults } from "./memory-faults.js";
import { Link, type Network } from "./memory-link.js";
import type { MemoryServer } from "./memory-server.js";
import { MemorySession } from "./memory-session.js";

interface Connection {
  readonly link: Link;
  session: MemorySession | null;
}

/** One process's way to the store, with everything that can happen on it. Faults ordered here befall only this client. */
export class MemoryClient extends MemoryFaults implements Store {
  readonly name: string;
  readonly #server: MemoryServer;
  readonly #network: Network;
  readonly #connections = new Set<Connection>();

  /** @internal */
  constructor(name: string, server: MemoryServer, latency: number, next: (call: MemoryCall) => Fault | undefined) {
    super();
    this.name = name;
    this.#server = server;
    this.#network = {
      latency,
      blocked: false,
      crashed: false,
      holdsRequests: false,
      holdsReplies: false,
      strandedAt: null,
      lag: 0n,
      next: (call) => this.next(call) ?? next(call),
    };
  }

  async open(request: OpenRequest, signal: Ender): Promise<Session> {
    const link = new Link(this.#server, this.#network, request.clock);
    const connection: Connection = { link, session: null };
    this.#connections.add(connection);
    const drop = () => void this.#connections.delete(connection);
    try {
      const lease = await link.call("open", signal, () => {
        if (signal.aborted) throw new StoreError("connection-lost", "the client has given up");
        return this.#server.open(request.clock, {
          ended: (error) => link.tell(() => connection.session?.finish(error)),
          disconnected: () => link.reconnect(),
          reconnected: () => this.#reattach(connection),
        });
      });
      connection.session = new MemorySession(this.#server, link, { id: lease.id, ttl: lease.ttl, gap: this.#server.gap }, drop);
      return connection.session;
    } catch (error) {
      drop();
      link.die(new StoreError("connection-lost", "the session was not opened"));
      throw error;
    }
  }

  /** Takes `ms` for each way from now on. */
  delay(ms: number): void {
    this.#network.latency = ms;
  }

  /** Reads show what was there `versions` changes ago, though nothing older than what this client knows already. */
  lagBy(versions: number): void {
    this.#network.lag = BigInt(versions);
  }

  /** Cuts the client off: requests and replies vanish, calls stay unanswered. */
  partition(): void {
    this.#network.blocked = true;
    for (const { link } of this.#connections) link.drop();
  }

  /** Ends `partition()`: as after a broken connection, calls fail, watches fire, and sessions are attached again. */
  heal(): void {
    this.#network.blocked = false;
    this.reset();
  }

  /** Breaks the connections; they are made anew at once. */
  reset(): void {
    for (const connection of [...this.#connections]) {
      connection.link.reconnect();
      this.#reattach(connection);
    }
  }

  /** The process is gone: nothing is ever sent or received again. Its calls end by their own signals only. */
  crash(): void {
    this.#network.crashed = true;
    for (const { link } of this.#connections) link.drop();
  }

  /** The server that serves this client loses the others: it answers reads and touches from what it knows, and nothing else. */
  strand(): void {
    this.#network.strandedAt = this.#server.version;
    for (const { session } of this.#connections) session?.forgetTouches();
  }

  /** Ends `strand()`, with a new connection. */
  unstrand(): void {
    this.#network.strandedAt = null;
    this.reset();
  }

  /** Requests do not arrive until `release()`. */
  holdRequests(): void {
    this.#network.holdsRequests = true;
  }

  /** Replies and notifications do not arrive until `release()`; requests take effect. */
  holdReplies(): void {
    this.#network.holdsReplies = true;
  }

  /** Lets everything that was held back go on, in order. */
  release(): void {
    this.#network.holdsRequests = false;
    this.#network.holdsReplies = false;
    for (const { link } of this.#connections) link.pump();
  }

  /** The sessions of this client that are open. */
  get sessions(): string[] {
    return [...this.#connections].flatMap(({ session }) => (session ? [session.id] : []));
  }

  #reattach({ link, session }: Connection): void {
    if (!session || !link.served) return;
    session.reattach();
  }
}
