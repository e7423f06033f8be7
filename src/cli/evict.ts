import type { Clock } from "../clock.js";
import { ConfigError } from "../errors.js";
import { type Eviction, evict as evictNow } from "../evict.js";
import { type Inspection, inspect } from "../inspect.js";
import { observe } from "../observer.js";
import type { Leader, Standing, Store } from "../store.js";
import type { Ask } from "./ask.js";
import { EXIT } from "./exit-codes.js";
import { clean, firstTen, leaderAsJson, standingAsJson } from "./shown.js";
import { tryFor } from "./try-for.js";

/** `tenure evict`, its arguments read. */
export interface EvictOptions {
  readonly store: Store;
  readonly election: string;
  readonly whom: Whom;
  /** How long the seat of a leader is kept free, ms; null: the session timeout. */
  readonly hold: number | null;
  readonly ask: Ask;
  readonly json: boolean;
  /** ms; for the store to answer, and then for the next leader. */
  readonly timeout: number;
  readonly clock: Clock;
  readonly warn: (line: string) => void;
}

type Whom = "leader" | { readonly id?: string | undefined; readonly entry?: string | undefined };

type Answer = { readonly text: string; readonly code: number };
const NOTHING: Answer = { text: "", code: EXIT.no };

/** Evicts; resolves with what to print and the exit code. Rejects with a ConfigError or a StoreError. */
export async function evict(options: EvictOptions): Promise<Answer> {
  const { store, election, whom, hold, ask, timeout, clock, warn } = options;
  if (whom !== "leader" && whom.id === undefined && whom.entry === undefined) {
    throw new ConfigError("tenure evict", "expected one of --id ID, --entry ENTRY and --leader");
  }
  const found = await tryFor(timeout, store, clock, (signal) => inspect(store, election, { signal, clock }));
  const choice = chosen(found.queue, whom);
  if (typeof choice === "string") {
    warn(`${choice}; nothing was done`);
    return NOTHING;
  }
  // One without a session is nobody's.
  if (choice.leading && choice.session !== null) {
    const sure = await ask(`${clean(choice.id)} leads ${election}. End its term by force?`);
    if (sure === null) throw new ConfigError("--yes", `needed to evict ${clean(choice.id)} without a question, because it leads`);
    if (!sure) {
      warn("nothing was done");
      return NOTHING;
    }
    warn(hold === 0 ? WITHOUT_HOLD : "evicting; the seat is kept free until it stands again, or its deadline must have passed");
  }
  // The session timeout bounds each attempt; the hold has a time of its own.
  const outcome = await evictNow(store, election, choice, { clock, ...(hold !== null && { hold }) });
  if (outcome === "refused") {
    warn(`${clean(choice.id)} has gone, or ${choice.leading ? "does not lead any more" : "leads now"}; nothing was done: look again`);
    return NOTHING;
  }
  if (outcome === "open" && hold !== 0)
    warn("the seat could not be kept free for that long: the evicted one may still believe that it leads");
  const leader = choice.leading ? await successor(options, found.leader) : found.leader;
  return answer(options, found, choice, outcome, leader);
}

const WITHOUT_HOLD =
  "evicting without a hold: if it is paused or cut off it believes up to its session timeout longer, while the next one leads; only sinks that check the fence are safe";

/** The one that is meant; a text says why there is none. */
function chosen(queue: readonly Standing[], whom: Whom): Standing | string {
  const found = queue.filter(
    whom === "leader" ? ({ leading }) => leading : ({ id, entry }) => (whom.entry === undefined ? id === whom.id : entry === whom.entry),
  );
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    const entries = found.map(({ entry, leading }) => `${entry}${leading ? " (leads)" : ""}`);
    return `${found.length} candidates are called ${JSON.stringify(only.id)}: name one with --entry: ${entries.join(", ")}`;
  }
  const all = firstTen(queue, ({ id, leading }) => `${clean(id)}${leading ? " (leads)" : ""}`);
  const there = queue.length > 0 ? `there are: ${all}` : "nobody stands";
  if (whom === "leader") return `nobody leads; ${there}`;
  const [what, name] = whom.entry === undefined ? ["candidate called", whom.id] : ["entry", whom.entry];
  return `there is no ${what} ${JSON.stringify(name)}; ${there}`;
}

/** Whoever leads next; null: nobody within the time. */
async function successor({ store, election, timeout, clock }: EvictOptions, before: Leader | null): Promise<Leader | null> {
  const observer = observe(store, election, { clock });
  const timer = clock.after(timeout, () => void observer.close());
  try {
    for await (const leader of observer) if (leader !== null && leader.fence !== before?.fence) return leader;
    return null;
  } finally {
    timer.cancel();
    await observer.close();
  }
}

function answer(
  { election, json, timeout, warn }: EvictOptions,
  found: Inspection,
  whom: Standing,
  outcome: Eviction,
  leader: Leader | null,
): Answer {
  const { id, entry, leading } = whom;
  const code = leading && leader === null ? EXIT.notElected : EXIT.ok;
  if (code !== EXIT.ok) warn(`evicted, but nobody leads after ${timeout / 1000} s more`);
  if (json) {
    const evicted = standingAsJson(whom);
    const text = JSON.stringify({ election, evicted, settled: outcome === "settled", leader: leaderAsJson(leader) }, null, 2);
    return { text: `${text}\n`, code };
  }
  const term = leading && found.leader ? `, which led with number ${found.leader.number} and fence ${found.leader.fence}` : "";
  const lines = [`evicted   ${clean(id)}${term}`, `entry     ${clean(entry)}`];
  lines.push(leader ? `leader    ${clean(leader.id)}  number ${leader.number}  fence ${leader.fence}` : "leader    none");
  return { text: `${lines.join("\n")}\n`, code };
}
