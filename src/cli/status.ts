import type { Clock } from "../clock.js";
import { type Inspection, inspect } from "../inspect.js";
import type { Store } from "../store.js";
import { EXIT } from "./exit-codes.js";
import { ago, clean, leaderAsJson, standingAsJson } from "./shown.js";
import { tryFor } from "./try-for.js";

/** `tenure status`, its arguments read. */
export interface StatusOptions {
  readonly store: Store;
  readonly election: string;
  readonly json: boolean;
  /** ms */
  readonly timeout: number;
  readonly clock: Clock;
}

/** Beside an entry that will never go by itself. */
const BLOCKS = "  belongs to no session: blocks those behind it until it is removed (tenure evict --entry)";

/** What `tenure status` prints, and its exit code. Rejects with a ConfigError or a StoreError. */
export async function status(options: StatusOptions): Promise<{ text: string; code: number }> {
  const { store, election, json, clock } = options;
  const { timeout } = options;
  const found = await tryFor(timeout, store, clock, (signal) => inspect(store, election, { signal, clock }));
  const text = json ? `${JSON.stringify(asJson(election, found), null, 2)}\n` : asTable(election, store.name, found, clock.wall());
  return { text, code: found.leader === null ? EXIT.no : EXIT.ok };
}

function asJson(election: string, { leader, queue }: Inspection): object {
  return {
    election,
    leader: leaderAsJson(leader),
    queue: queue.map(standingAsJson),
  };
}

function asTable(election: string, store: string, { leader, queue }: Inspection, now: number): string {
  const rows: [string, string][] = [
    ["election", `${election} on ${store}`],
    ["leader", leader ? clean(leader.id) : "none"],
  ];
  if (leader) {
    rows.push(["number", String(leader.number)], ["fence", leader.fence.toString()]);
    rows.push(["since", `${leader.since.toISOString()} (${ago(now - leader.since.getTime())})`]);
  }
  const lines = rows.map(([name, value]) => `${name.padEnd(9)} ${value}`);
  lines.push(queue.length === 0 ? "queue     empty" : "queue");
  const width = String(queue.length).length;
  queue.forEach(({ id, leading, session, metadata }, index) => {
    const extra = Object.keys(metadata).length > 0 ? `  ${clean(JSON.stringify(metadata))}` : "";
    lines.push(
      `  ${String(index + 1).padStart(width)}  ${clean(id)}${leading ? "  leading" : ""}${session === null ? BLOCKS : ""}${extra}`,
    );
  });
  return `${lines.join("\n")}\n`;
}
