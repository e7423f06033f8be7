import type { ConsulServer } from "../test/support/consul-server.js";
import type { HttpProxy } from "../test/support/http-proxy.js";
import { kindOf } from "../test/support/http-proxy-kinds.js";
import type { LoggedRequest } from "../test/support/http-proxy-log.js";
import type { Window } from "./consul-systems.js";
import { tally } from "./table.js";

/** What passed while a window was open, each a hand-over. */
export interface Traffic {
  /** Requests that belong to hand-overs. */
  readonly perHandOver: number;
  /** Raft entries, without those that only delete letters. */
  readonly raft: number;
  /** How many there are of each request. */
  readonly requests: Record<string, number>;
  /** What is counted apart: renewals, sweeps, deletions of letters, queries asked anew since their wait was over. */
  readonly apart: Record<string, number>;
}

interface Mark {
  readonly at: bigint;
  readonly raft: number;
}

/** Counts what passes by a proxy, and the raft entries of the server behind it. */
export class TrafficWindow implements Window {
  readonly #proxy: HttpProxy;
  readonly #server: ConsulServer;
  #opened: Mark = { at: 0n, raft: 0 };
  #closed: Mark = { at: 0n, raft: 0 };

  constructor(proxy: HttpProxy, server: ConsulServer) {
    this.#proxy = proxy;
    this.#server = server;
  }

  async open(): Promise<void> {
    this.#opened = await this.#mark();
  }

  async close(): Promise<void> {
    this.#closed = await this.#mark();
  }

  each(handOvers: number): Traffic {
    const inside = (at: bigint | null) => at !== null && at > this.#opened.at && at <= this.#closed.at;
    const sent = this.#proxy.requests.filter(({ at }) => inside(at));
    const waited = this.#proxy.requests.filter((request) => kindOf(request) === "waited" && inside(request.answeredAt)).length;
    const apart = sent.map(upkeep).filter((name) => name !== null);
    const requests = tally(sent.filter((request) => upkeep(request) === null).map(describe));
    const deletions = apart.filter((name) => name === DELETION).length;
    const round = (value: number) => Math.round((value / handOvers) * 100) / 100;
    const rounded = (counts: Record<string, number>) =>
      Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, round(count)]));
    return {
      // A query whose wait is over is asked anew by another one.
      perHandOver: round(sent.length - apart.length - waited),
      raft: round(this.#closed.raft - this.#opened.raft - deletions),
      requests: rounded(requests),
      apart: rounded({ ...tally(apart), ...(waited > 0 ? { "query asked anew": waited } : {}) }),
    };
  }

  async #mark(): Promise<Mark> {
    const raft = await this.#server.raftIndex();
    return { at: process.hrtime.bigint(), raft };
  }
}

const DELETION = "deletion of letters";

/** What it is if it belongs to no hand-over; else null. Looks at a queue only read, too, but a sweep checks something. */
function upkeep(request: LoggedRequest): string | null {
  const kind = kindOf(request);
  if (kind === "renewal") return "renewal";
  if (kind === "deletion") return DELETION;
  const sweeps = kind === "read" && request.operations.some(({ verb }) => verb.startsWith("check-"));
  return sweeps ? "sweep" : null;
}

function describe({ method, path, query, operations }: LoggedRequest): string {
  if (operations.length > 0) return `txn[${operations.map(({ verb }) => verb).join(", ")}]`;
  const flag = ["acquire", "release"].find((name) => name in query);
  const shape = path
    .replace(/^\/v1\//, "")
    .replace(/^kv\/bench\/[^/]+\//, "kv/…/")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "*");
  if (Number(query.index)) return `query ${shape}`;
  return `${method} ${shape}${flag ? `?${flag}` : ""}`;
}
