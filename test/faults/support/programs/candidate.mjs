// One candidate, told what to do over IPC. Writes each event as a line of JSON, at once. Ends by itself when nothing is left.
// node candidate.mjs '{"store":{…},"election":…,"id":…,"drain":…,"work":"until-over"|"until-draining"|"none"}'
import { writeSync } from "node:fs";
import { zookeeper } from "../../../../dist/adapters/zookeeper/index.js";
import { Elector } from "../../../../dist/src/index.js";

const { store, election, id, drain, work } = JSON.parse(process.argv[2]);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const write = (what, details = {}) => writeSync(1, `${JSON.stringify({ what, at: now(), ...details })}\n`);
const aborted = (signal) =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", resolve, { once: true })));

const elector = new Elector({ store: zookeeper(store), election, id, ...(drain === undefined ? {} : { drain }) });
let events = 0;
for (const what of ["standby", "elected", "suspect", "restored", "draining", "lost", "stopped", "warning"]) {
  elector.on(what, (event) => {
    events++;
    const fence = what === "elected" ? event.token : undefined;
    write(what, { reason: event?.reason, fence, message: event?.message ?? event?.error?.message });
    if (what !== "elected" || work === "none") return undefined;
    const until = async () => {
      await aborted(event.draining);
      if (work === "until-over" && event.draining.reason.reason === "yielded") await aborted(event.signal);
    };
    return until();
  });
}

// Asks again and again; says so once it is well under way. Once time has made a jump between two questions, writes what the
// first one after it was answered.
function asker() {
  let asked = now();
  let before = elector.isLeader;
  let count = 0;
  return () => {
    const from = now();
    const answer = elector.isLeader;
    const to = now();
    if (count++ === 20) write("spinning");
    // Of a jump within the question nobody can say on which side of it the answer was given: the next one counts.
    if (to - from > 1000) return true;
    if (from - asked > 1000) {
      write("jumped", { jump: from - asked, before, first: answer, events });
      return false;
    }
    asked = to;
    before = answer;
    return true;
  };
}

const orders = {
  resign: () => elector.resign(),
  stop: () => void elector.stop().then(() => write("stop resolved")),
  spin: () => {
    const ask = asker();
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const end = now() + 30_000;
    while (ask() && now() < end) Atomics.wait(pause, 0, 0, 1);
  },
  turns: () => {
    const ask = asker();
    const turn = () => ask() && setImmediate(turn);
    setImmediate(turn);
  },
};
process.on("message", (order) => orders[order]());
process.channel.unref();
elector.start();
write("started");
