import { setTimeout as sleep } from "node:timers/promises";

/** What a run of a job gets of the term in which it runs. */
export interface Run {
  /** Hand it to whatever the job writes to, and let that refuse a lower one than it has seen. */
  readonly fence: string;
  /** Aborts when the term is over: what has not been done by then is another process's. */
  readonly signal: AbortSignal;
}

export interface Job {
  readonly name: string;
  /** As cron has it, with seconds in front. */
  readonly pattern: string;
  run(run: Run): Promise<void>;
}

export const jobs: readonly Job[] = [
  {
    name: "invoices",
    pattern: "* * * * * *",
    run: async ({ signal }) => {
      // In earnest: UPDATE … WHERE fence <= $fence, or the fence in a header.
      await sleep(1500, undefined, { signal });
    },
  },
];
