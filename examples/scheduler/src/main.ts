import { Cron } from "croner";
import { Elector, type Term } from "tenure";
import { zookeeper } from "tenure/zookeeper";
import { type Job, jobs } from "./jobs.js";

const elector = new Elector({
  store: zookeeper(process.env.ZOOKEEPER ?? "127.0.0.1:2181"),
  election: "scheduler",
  drain: "20s",
  ...(process.env.ID && { id: process.env.ID }),
});

elector.on("standby", () => log("standby"));
elector.on("lost", ({ term, reason }) => log(`term ${term.number} is over: ${reason}`));
elector.on("warning", (error) => log(`warning: ${error.message}`));
process.once("SIGTERM", () => elector.stop());
process.once("SIGINT", () => elector.stop());

// Stands until it is stopped, and leads again and again. It rejects with what no further try would cure.
await elector.lead(async (term) => {
  log(`leading, term ${term.number}, fence ${term.token}`);
  const schedules = jobs.map((job) => schedule(job, term));
  await draining(term);
  for (const one of schedules) one.stop();
  // The runs that are under way keep the seat until they have settled, by their guard.
});

/** Starts runs while the term admits new work. One that takes longer than its interval is not started a second time. */
function schedule(job: Job, term: Term): Cron {
  return new Cron(job.pattern, { protect: true }, () => runOnce(job, term));
}

async function runOnce(job: Job, term: Term): Promise<void> {
  log(`${job.name} begins, fence ${term.token}`);
  try {
    await term.guard((signal) => job.run({ fence: term.token, signal }));
    log(`${job.name} done, fence ${term.token}`);
  } catch (error) {
    log(`${job.name} abandoned, fence ${term.token}: ${(error as Error).message}`);
  }
}

function draining({ draining }: Term): Promise<void> {
  return new Promise((resolve) => {
    if (draining.aborted) resolve();
    else draining.addEventListener("abort", () => resolve(), { once: true });
  });
}

function log(text: string): void {
  console.log(`${new Date().toISOString()} ${elector.id}: ${text}`);
}
