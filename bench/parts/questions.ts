import { tenurePeer } from "../node-peer.js";
import { builds } from "../places.js";
import { say } from "../run.js";
import { TTL } from "../systems.js";

/** Cost of one question, in ns and bytes a call; what an empty loop costs is not taken off. */
export interface Question {
  readonly system: string;
  readonly what: string;
  readonly ns: number;
  readonly leastNs: number;
  readonly allocated: number;
  readonly retained: number;
}

const WHAT = ["nothing", "isLeader", "valid", "assertValid"];

/** While leading, on a real server. The young generation is large, so that nothing is collected while it is counted. */
export async function measureQuestions(address: string): Promise<Question[]> {
  const results: Question[] = [];
  for (const [index, build] of builds().entries()) {
    const { name } = build;
    const node = ["--expose-gc", "--max-semi-space-size=128"];
    for (const what of WHAT) {
      // A process for each: what was asked before shapes the compiled code.
      const peer = tenurePeer(name, "tenure-questions", build, { store: "zookeeper", address, root: `/bench/q${index}`, ttl: TTL }, node);
      try {
        const [ns = 0, leastNs = 0, allocated = 0, retained = 0] = await peer.numbers("measure", what);
        results.push({ system: name, what, ns, leastNs, allocated, retained });
        say(`questions: ${name}, ${what}: ${ns.toFixed(0)} ns, ${allocated.toFixed(1)} bytes allocated, ${retained.toFixed(3)} retained`);
        await peer.ask("stop");
      } finally {
        await peer.quit();
      }
    }
  }
  return results;
}
