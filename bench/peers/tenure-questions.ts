/*
 * What it costs to ask whether one leads: `node --expose-gc --max-semi-space-size=128 tenure-questions.js DIST STORE ADDRESS ROOT TTL`.
 */
import type { Elector, Term } from "../../dist/src/index.js";
import { loadTenure, now, serve } from "./lines.js";

const { Elector: ElectorClass, open } = await loadTenure(process.argv.slice(2));
const elector: Elector = new ElectorClass({ store: open(), election: "questions" });
elector.start();
const term: Term = await elector.elected();

const gc = (globalThis as unknown as { gc(): void }).gc;
const CALLS = 100_000;
const BATCHES = 41;

let yes = 0;
const questions: Record<string, () => void> = {
  isLeader: () => {
    if (elector.isLeader) yes++;
  },
  assertValid: () => {
    term.assertValid();
    yes++;
  },
  valid: () => {
    if (term.valid) yes++;
  },
  nothing: () => {
    yes++;
  },
};

/** ns a call: the median of batches, and the least; bytes a call: allocated in one batch, and left after a collection. */
function measure(question: () => void): [number, number, number, number] {
  const batch = () => {
    for (let i = 0; i < CALLS; i++) question();
  };
  for (let i = 0; i < 5; i++) batch();
  const times = Array.from({ length: BATCHES }, () => {
    const from = now();
    batch();
    return now() - from;
  }).sort((a, b) => a - b);
  gc();
  const before = process.memoryUsage().heapUsed;
  batch();
  const allocated = process.memoryUsage().heapUsed - before;
  for (let i = 0; i < 9; i++) batch();
  gc();
  const retained = process.memoryUsage().heapUsed - before;
  const ns = (ms: number | undefined) => ((ms as number) / CALLS) * 1e6;
  return [ns(times[BATCHES >> 1]), ns(times[0]), allocated / CALLS, retained / CALLS / 10];
}

await serve({
  /** For `what`: ns, least ns, bytes allocated and bytes retained, a call, the loop included. */
  async measure(what = "") {
    const asked = yes;
    const result = measure(questions[what] as () => void);
    if (yes - asked !== CALLS * (5 + BATCHES + 10)) throw new Error("the answer was no");
    return result;
  },
  async stop() {
    await elector.stop();
    return [];
  },
});
