import { setTimeout as sleep } from "node:timers/promises";
import { fourLetter } from "../../../support/four-letter.js";
import { fresh } from "../../../support/names.js";
import { type FaultProxy, startProxy } from "../../../support/proxy.js";
import type { OpcodeName } from "../../../support/proxy-frames.js";
import { PATIENCE, until, within } from "../../../support/wait-for.js";
import { Candidate } from "../candidate.js";
import { ChildCandidate } from "../child-candidate.js";
import { now } from "../now.js";
import { Pace } from "../pace.js";
import { viewOf } from "../queue-view.js";
import { Findings, type Verdict } from "../verdict.js";

/** Milliseconds. */
const TIMEOUT = 3000;
const TICK = 500;

/** Where a process is when it is told to stop. */
export interface Step {
  /** What stands between it and the seat: nobody, or a leader that stays. */
  readonly as: "leader" | "waiter";
  /** The request that something happens to, counted from the start of the process, or from the order to stop. */
  readonly opcode: OpcodeName;
  readonly nth: number;
  readonly counted: "from the start" | "from stop()";
  /** What happens to it. If counted from the start, stop() is called at that moment. */
  readonly fault: "held back" | "request lost" | "reply lost" | "reply lost, connection cut";
}

export const FAULTS: readonly Step["fault"][] = ["held back", "request lost", "reply lost", "reply lost, connection cut"];

/** Every request of a candidate's life, with every fault. */
export async function allSteps(server: string): Promise<Step[]> {
  const steps: Step[] = [];
  for (const as of ["leader", "waiter"] as const) {
    const requests = await ordinaryLife(server, as);
    for (const { counted, opcode, count } of requests) {
      for (let nth = 1; nth <= count; nth++) for (const fault of FAULTS) steps.push({ as, opcode, nth, counted, fault });
    }
  }
  return steps;
}

type Requests = { readonly counted: Step["counted"]; readonly opcode: OpcodeName; readonly count: number };

/** The requests that a candidate sends from its start until it leads or waits, and from then on until it has ended. */
async function ordinaryLife(server: string, as: Step["as"]): Promise<Requests[]> {
  await using world = await openWorld(server, as);
  const { child, proxy } = world;
  await child.next(as === "leader" ? "elected" : "standby");
  // What it sends at last are the watches of whoever leads or waits.
  await sleep(200);
  const before = new Map(proxy.requests().map(({ opcode, count }) => [opcode, count]));
  child.order("stop");
  await child.ended;
  const all = proxy.requests().map(({ opcode, count }) => ({ opcode: opcode as OpcodeName, count: count - (before.get(opcode) ?? 0) }));
  const starting = [...before].map(([opcode, count]) => ({ counted: "from the start" as const, opcode: opcode as OpcodeName, count }));
  const stopping = all.filter(({ count }) => count > 0).map((requests) => ({ counted: "from stop()" as const, ...requests }));
  return [...starting, ...stopping];
}

/** Stops a process at one step. It must end by itself, with no entry left, and soon no session. */
export async function stopAt(server: string, step: Step): Promise<Verdict> {
  const findings = new Findings();
  const name = `${step.as}, ${step.opcode} ${step.nth} ${step.counted}, ${step.fault}`;
  await using world = await openWorld(server, step.as);
  const { child, proxy } = world;
  if (step.counted === "from stop()") await child.next(step.as === "leader" ? "elected" : "standby");
  const hit = hits(proxy, step);
  if (step.counted === "from the start")
    await within(Promise.race([hit, wellUnderWay(child, step.as)]), 2 * PATIENCE, name).catch((error) => child.fail(error));
  const ordered = now();
  child.order("stop");
  await Promise.race([hit, child.ended]);
  if (step.fault === "held back") {
    await sleep(100);
    proxy.release();
  }
  const end = await within(child.ended, 2 * PATIENCE, `${name}: the process ends by itself`).catch((error) => child.fail(error));
  findings.figure(`ended after stop(), ${step.fault}`, now() - ordered);
  const last = child.lines.slice(-2).map(({ what }) => what);
  findings.must(end === 0 && last.join() === "stopped,stop resolved", `${name}: the process ended with ${end} after ${last.join()}`);
  findings.must(child.errors === "", `${name}: it wrote ${child.errors}`);
  await until(() => proxy.connections === 0, { what: `${name}: no connection is open` });

  // On a machine that paused, the session may have been over for the process before it was for the server.
  const paused = (await world.pace.slack(ordered)) > TIMEOUT;
  if (paused) await until(async () => (await world.ownEntries()).length === 0, { what: `${name}: the entry goes` });
  const own = await world.ownEntries();
  findings.must(own.length === 0, `${name}: ${own.length} entries are left`);
  // A session whose opening or closing was lost on the way can only expire.
  const canClose = step.opcode !== "connect" && step.opcode !== "closeSession";
  const open = async () => {
    const dump = await fourLetter(Number(server.split(":")[1]), "dump");
    return proxy.sessions().filter(({ id }) => dump.includes(`0x${id.toString(16)}`)).length;
  };
  const gone = async () => (await open()) === 0;
  if (paused || !canClose) await until(gone, { every: 50, what: `${name}: the session expires` });
  findings.must(await gone(), `${name}: ${await open()} sessions are open`);
  return findings.verdict();
}

/** Some requests are only sent in some lives, such as a touch while it waits for long. */
async function wellUnderWay(child: ChildCandidate, as: Step["as"]): Promise<void> {
  const reached = child.next(as === "leader" ? "elected" : "standby").then(
    () => true,
    () => false,
  );
  if (await reached) await sleep(TIMEOUT / 4);
}

/** Lets `step.fault` happen; resolves when it has. */
async function hits(proxy: FaultProxy, { opcode, nth, fault }: Step): Promise<void> {
  if (fault === "held back") {
    // The request itself passes; what follows does not, and neither does the answer.
    await proxy.onRequest(opcode, nth);
    proxy.hold();
  } else if (fault === "request lost") await proxy.dropRequest({ opcode, nth });
  else await proxy.dropReply({ opcode, nth, thenCut: fault === "reply lost, connection cut" });
}

async function openWorld(server: string, as: Step["as"]) {
  const root = `/${fresh("stop")}`;
  const view = await viewOf(server, root);
  const proxy = await startProxy(Number(server.split(":")[1]));
  const pace = await Pace.at(server);
  const store = { root, sessionTimeout: TIMEOUT, tickTime: TICK };
  const leader = as === "waiter" ? new Candidate({ store: { ...store, servers: server }, id: "other" }).start() : null;
  await leader?.next("elected", 0);
  const child = new ChildCandidate({ store: { ...store, servers: proxy.address }, id: "child", work: "until-draining" });
  return {
    proxy,
    child,
    pace,
    async ownEntries() {
      const entries = await view.entries();
      const ids = await Promise.all(entries.map((entry) => view.idOf(entry)));
      return entries.filter((_, index) => ids[index] === "child");
    },
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      await leader?.stop();
      await view.raw.close();
      await proxy.dispose();
      await pace[Symbol.asyncDispose]();
    },
  };
}
