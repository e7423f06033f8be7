/*
 * Candidates of tenure, all in this process: `node tenure-hand.js DIST STORE ADDRESS ROOT TTL`. A hand-over is measured from the call
 * of resign() (or stop()) of the leader to the call of the `elected` listener of the next.
 */
import type { Elector } from "../../dist/src/index.js";
import { loadTenure, now, serve, sleep } from "./lines.js";

const { Elector: ElectorClass, open } = await loadTenure(process.argv.slice(2));

let electors: Elector[] = [];
let keepers: Elector[] = [];
let leader: Elector | null = null;
let standing = 0;
let standAgain = "";
let made = 0;
let onElected: (at: number) => void = () => {};
let onStandby: () => void = () => {};

function candidate(store: ReturnType<typeof open>, election: string, id: string): Elector {
  const elector = new ElectorClass({ store, election, id });
  elector.on("elected", () => {
    const at = now();
    leader = elector;
    onElected(at);
  });
  elector.on("standby", () => {
    standing++;
    onStandby();
  });
  elector.on("warning", (error) => process.stderr.write(`${error.message}\n`));
  return elector;
}

const elected = () => new Promise<number>((resolve) => (onElected = resolve));
const standby = (count: number) =>
  new Promise<void>((resolve) => {
    onStandby = () => standing >= count && resolve();
    onStandby();
  });

/** One hand-over by `give`, from its call to the next `elected`. */
async function handOver(give: (leader: Elector) => void): Promise<number> {
  const next = elected();
  const from = now();
  give(leader as Elector);
  return (await next) - from;
}

await serve({
  /**
   * `again`: `at-once` (leaders resign() and stand again by themselves) or `later` (they stop(), and start() when the next one leads).
   * `keep`: `keepers`, or `none` where who stands again at once keeps its session by that.
   */
  async stand(candidates = "", sessions = "", again = "", keep = "keepers") {
    standAgain = again;
    const stores = Array.from({ length: Number(sessions) }, open);
    standing = 0;
    const first = elected();
    electors = Array.from({ length: Number(candidates) }, (_, i) =>
      candidate(stores[i % stores.length] as (typeof stores)[0], "seat", `c${i}`),
    );
    for (const elector of electors) elector.start();
    await first;
    await standby(electors.length - 1);
    if (keep === "none") return [];
    // Whoever leaves keeps its session, as the candidates of the other systems do: it also waits in an election of no interest.
    keepers = stores.map((store, i) => new ElectorClass({ store, election: "keeper", id: `k${i}` }));
    await Promise.all(
      keepers.map(
        (keeper) =>
          new Promise<unknown>((resolve) => {
            keeper.once("standby", () => resolve(null));
            keeper.once("elected", resolve);
            keeper.start();
          }),
      ),
    );
    return [];
  },
  /** Stands by with `candidates`, a session for each, in the election of `stand`, which another process leads. */
  async join(candidates = "") {
    standing = 0;
    electors = Array.from({ length: Number(candidates) }, (_, i) => candidate(open(), "seat", `w${i}`));
    for (const elector of electors) elector.start();
    await standby(electors.length);
    return [];
  },
  /** When the next one here is elected. */
  next: async () => [await elected()],
  /** `count` hand-overs; `pause` ms of rest once all stand again. */
  async hand(count = "", pause = "") {
    const times: number[] = [];
    while (times.length < Number(count)) {
      const old = leader as Elector;
      standing = 0;
      let stopped: Promise<void> | null = null;
      times.push(await handOver(() => void (standAgain === "later" ? (stopped = old.stop()) : old.resign())));
      await stopped;
      if (standAgain === "later") old.start();
      await standby(1);
      await sleep(Number(pause));
    }
    return times;
  },
  /** `count` leaders leave for good, one after the other. */
  async depart(count = "", pause = "") {
    const times: number[] = [];
    while (times.length < Number(count)) {
      times.push(await handOver((elector) => void elector.stop()));
      await sleep(Number(pause));
    }
    return times;
  },
  async leave() {
    await Promise.all([...electors, ...keepers].map((elector) => elector.stop()));
    electors = [];
    keepers = [];
    return [];
  },
  /** In each of `elections`, with two candidates that have a session each, one hand-over after `wait` ms in which nothing happened. */
  async late(elections = "", wait = "", pause = "") {
    const pairs: [Elector, Elector][] = [];
    standing = 0;
    for (let i = 0; i < Number(elections); i++) {
      const first = candidate(open(), `late-${i}`, "first");
      const won = elected();
      first.start();
      await won;
      const second = candidate(open(), `late-${i}`, "second");
      second.start();
      pairs.push([first, second]);
    }
    await standby(pairs.length);
    await sleep(Number(wait));
    const times: number[] = [];
    for (const [first] of pairs) {
      leader = first;
      times.push(await handOver((elector) => elector.resign()));
      await sleep(Number(pause));
    }
    await Promise.all(pairs.flat().map((elector) => elector.stop()));
    return times;
  },
  /** From start() to `elected` where nobody stands, on a session that is open; of `fresh` names nothing is there yet. */
  async first(count = "", pause = "", names = "") {
    const store = open();
    const keeper = candidate(store, "keeper", "keeper");
    const kept = elected();
    keeper.start();
    await kept;
    const times: number[] = [];
    for (let i = 0; i < Number(count); i++) {
      const name = names === "fresh" ? `fresh-${made++}` : "used";
      const won = elected();
      const from = now();
      const elector = candidate(store, name, "only");
      elector.start();
      times.push((await won) - from);
      await elector.stop();
      await sleep(Number(pause));
    }
    await keeper.stop();
    return names === "used" ? times.slice(1) : times;
  },
});
