import { type Clock, type Ender, sleep } from "../../../src/clock.js";
import { StoreError } from "../../../src/errors.js";
import { endsSession } from "./zookeeper-client-call.js";
import { Link } from "./zookeeper-client-link.js";
import type { Resume } from "./zookeeper-client-manager.js";
import type { NodeZooKeeperClient } from "./zookeeper-client-package.js";
import type { ClientOptions } from "./zookeeper-wire.js";

/** The pause before the second round over all servers, doubled for each further one, ms. */
const PAUSE = 100;
/** Short enough to save a session of 4 s. */
const LONGEST_PAUSE = 1000;

/** Finds a server: each in turn, in an order of chance that stays. */
export class Dialer {
  readonly #pkg: NodeZooKeeperClient;
  readonly #clock: Clock;
  readonly #options: ClientOptions;
  readonly #closeFrame: Buffer;
  readonly #servers: readonly string[];
  #next = 0;
  /** In a row; a connection that did not last counts too. */
  #failures = 0;
  #connectedAt = 0;

  constructor(pkg: NodeZooKeeperClient, clock: Clock, options: ClientOptions, closeFrame: Buffer) {
    this.#pkg = pkg;
    this.#clock = clock;
    this.#options = options;
    this.#closeFrame = closeFrame;
    this.#servers = shuffled(options.servers, clock);
  }

  /** A new session; each server is tried once. */
  async first(signal: Ender): Promise<Link> {
    const reasons: StoreError[] = [];
    for (const _ of this.#servers) {
      try {
        return await this.#open(null, this.#options.connectTimeout, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof StoreError) || endsSession(error)) throw error;
        reasons.push(error);
      }
    }
    const text = reasons.map(({ message }) => message).join("; ");
    if (reasons.every(({ code }) => code === "certificate"))
      throw new StoreError("certificate", `no ZooKeeper server can be used: ${text}`, { cause: reasons[0] });
    throw new StoreError("unreachable", `no ZooKeeper server can be reached: ${text}`, { cause: reasons[0] });
  }

  /** The same session again, after its connection was lost: the next server at once, then round after round until `signal`. */
  async again(resume: Resume, signal: Ender): Promise<Link> {
    if (this.#clock.mono() - this.#connectedAt < LONGEST_PAUSE) this.#failures++;
    else this.#failures = 0;
    const timeout = Math.min(this.#options.connectTimeout, resume.timeout / 3);
    for (;;) {
      await this.#pause(signal);
      try {
        return await this.#open(resume, timeout, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof StoreError) || endsSession(error)) throw error;
        this.#failures++;
      }
    }
  }

  async #open(resume: Resume | null, timeout: number, signal: Ender): Promise<Link> {
    if (signal.aborted) throw signal.reason;
    const server = this.#servers[this.#next++ % this.#servers.length] as string;
    const link = new Link(this.#pkg, this.#clock, this.#options, server, resume, this.#closeFrame);
    await openLink(link, this.#clock, timeout, signal);
    this.#connectedAt = this.#clock.mono();
    return link;
  }

  async #pause(signal: Ender): Promise<void> {
    const rounds = Math.floor(this.#failures / this.#servers.length);
    if (rounds === 0 || this.#failures % this.#servers.length !== 0) return;
    const longest = Math.min(LONGEST_PAUSE, PAUSE * 2 ** (rounds - 1));
    await sleep(this.#clock, longest * (0.5 + this.#clock.random() / 2), signal);
  }
}

/** Connects to one server and waits until the session is served there. Rejects with the reason of `signal`, or a StoreError. */
async function openLink(link: Link, clock: Clock, timeout: number, signal: Ender): Promise<Link> {
  const late = () => link.destroy(new StoreError("unreachable", `${link.server}: no handshake within ${Math.round(timeout)} ms`));
  const onAbort = () => link.destroy(new StoreError("unreachable", `${link.server}: given up`, { cause: signal.reason }));
  const timer = clock.after(timeout, late);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    await link.ready;
    return link;
  } catch (error) {
    await link.gone;
    throw signal.aborted ? signal.reason : error;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }
}

function shuffled(servers: readonly string[], clock: Clock): string[] {
  return servers
    .map((server) => ({ server, at: clock.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ server }) => server);
}
