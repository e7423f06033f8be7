import type { ZooKeeperOptions } from "../../../adapters/zookeeper/index.js";
import { fresh } from "../../support/names.js";
import { until } from "../../support/wait-for.js";
import { Belongings } from "./belongings.js";
import { Candidate, type CandidateOptions } from "./candidate.js";
import { type QueueView, viewOf } from "./queue-view.js";

/** Of the sessions, ms; with a proof every 2 s. Long enough to outlast a pause of several seconds, the tickTime being known. */
export const TIMEOUT = 10_000;
export const INTERVAL = TIMEOUT / 5;

/** Candidates in one queue, each on a session of its own, and a second client that looks on. */
export class Line extends Belongings {
  readonly store: ZooKeeperOptions;
  readonly view: QueueView;
  readonly all: Candidate[] = [];

  constructor(store: ZooKeeperOptions, view: QueueView) {
    super();
    this.store = store;
    this.view = view;
  }

  /** The next in line; resolves when it stands there. */
  async join(id: string, options: Omit<CandidateOptions, "id"> = {}): Promise<Candidate> {
    const candidate = this.use(new Candidate({ store: this.store, id, ...options }));
    const isFirst = this.all.push(candidate) === 1;
    await candidate.start().next(isFirst ? "elected" : "standby", 0);
    return candidate;
  }

  /** Resolves to the one leader when all others wait and the server sees as many entries as there are candidates. */
  async settled(): Promise<Candidate> {
    const isSettled = async () => {
      const [leader, ...more] = this.all.filter(({ isLeader }) => isLeader);
      const waiting = this.all.filter(({ elector }) => elector.state === "standby").length;
      if (!leader || more.length > 0 || waiting !== this.all.length - 1) return null;
      const { length } = await this.view.entries();
      return length === this.all.length && (await this.view.leader()) === leader.elector.id ? leader : null;
    };
    return until(isSettled, { every: 20, what: "one leads and the others wait" });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.view.raw.close();
  }
}

/** Resolves to a line of candidates named `ids`, the first of which leads. `options`: of the store. */
export async function lineUp(server: string, ids: readonly string[], options: Partial<ZooKeeperOptions> = {}): Promise<Line> {
  const store = { servers: server, root: `/${fresh("line")}`, sessionTimeout: TIMEOUT, tickTime: 500, ...options };
  const line = new Line(store, await viewOf(server, store.root));
  for (const id of ids) await line.join(id);
  return line;
}
