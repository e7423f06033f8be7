import { type Clock, sleep } from "../clock.js";
import { StoreError, timedOut } from "../errors.js";
import { type Inspection, inspect } from "../inspect.js";
import type { Store } from "../store.js";
import { EXIT } from "./exit-codes.js";

/** `tenure status`, its arguments read. */
export interface StatusOptions {
  readonly store: Store;
  readonly election: string;
  readonly json: boolean;
  /** ms */
  readonly timeout: number;
  readonly clock: Clock;
}

const PAUSE = 200;

/** What `tenure status` prints, and its exit code. Rejects with a ConfigError or a StoreError. */
export async function status(options: StatusOptions): Promise<{ text: string; code: number }> {
  const { store, election, json, clock } = options;
  const found = await inspected(options);
  const text = json ? `${JSON.stringify(asJson(election, found), null, 2)}\n` : asTable(election, store.name, found, clock.wall());
  return { text, code: found.leader === null ? EXIT.no : EXIT.ok };
}

/** Tries again, for as long as the time given, unless no server was there at all or trying again cures nothing. */
async function inspected({ store, election, timeout, clock }: StatusOptions): Promise<Inspection> {
  const limit = new AbortController();
  const timer = clock.after(timeout, () => limit.abort(timedOut(store.name, timeout)));
  let last: unknown = null;
  try {
    for (;;) {
      try {
        return await inspect(store, election, { signal: limit.signal, clock });
      } catch (error) {
        if (limit.signal.aborted) throw last ?? error;
        last = error;
        if (!(error instanceof StoreError && error.transient && error.code !== "unreachable")) throw error;
        await sleep(clock, PAUSE, limit.signal).catch(() => {});
        if (limit.signal.aborted) throw error;
      }
    }
  } finally {
    timer.cancel();
  }
}

function asJson(election: string, { leader, queue }: Inspection): object {
  return {
    election,
    leader: leader && {
      id: leader.id,
      number: leader.number,
      fence: leader.fence.toString(),
      since: leader.since.toISOString(),
      metadata: leader.metadata,
    },
    queue: queue.map(({ id, entry, leading, metadata }) => ({ id, entry, leading, metadata })),
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
  queue.forEach(({ id, leading, metadata }, index) => {
    const extra = Object.keys(metadata).length > 0 ? `  ${clean(JSON.stringify(metadata))}` : "";
    lines.push(`  ${String(index + 1).padStart(width)}  ${clean(id)}${leading ? "  leading" : ""}${extra}`);
  });
  return `${lines.join("\n")}\n`;
}

function ago(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 0) return "in the future, by this machine's clock";
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} days ago`;
}

/** What others wrote into the store must not steer the reader's terminal. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\uFFFD");
}
