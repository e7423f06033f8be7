import type { ZooKeeperOptions } from "../../../../adapters/zookeeper/index.js";
import { fresh } from "../../../support/names.js";
import { startProxy } from "../../../support/proxy.js";
import { until } from "../../../support/wait-for.js";
import { Candidate, type WorkKind } from "../candidate.js";
import { now } from "../now.js";
import { Pace } from "../pace.js";
import { sample } from "../sampler.js";
import { Findings, type Verdict } from "../verdict.js";

/** Milliseconds. */
const TIMEOUT = 6000;
const INTERVAL = TIMEOUT / 5;

/**
 * The leader's link swallows everything. It must say that it does not lead before another one does, by its own clock
 * alone; and stand again once the link is back. `tick`: the server's tickTime, ms. `tls`: how
 * to speak TLS to it; `plain`: where it speaks none.
 */
export async function blackholedLeader(
  server: string,
  tick: number,
  work: WorkKind,
  tls: ZooKeeperOptions["tls"] = false,
  plain = server,
): Promise<Verdict> {
  const findings = new Findings();
  const root = `/${fresh("blackhole")}`;
  await using proxy = await startProxy(Number(server.split(":")[1]), { framed: tls === false });
  await using pace = await Pace.at(plain);
  await using leader = new Candidate({
    store: { servers: proxy.address, root, sessionTimeout: TIMEOUT, tickTime: tick, tls },
    id: "leader",
    work,
  });
  await leader.start().next("elected", 0);
  let atElected: boolean | undefined;
  await using successor = new Candidate({
    store: { servers: server, root, sessionTimeout: TIMEOUT, tls },
    id: "successor",
    onElected: () => {
      atElected = leader.isLeader;
    },
  });
  await successor.start().next("standby", 0);
  // A phase of chance between two proofs.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * INTERVAL));
  await until(() => (leader.elector.term?.remaining() ?? 0) > TIMEOUT / 3, { what: "the leader leads" });

  const samples = sample(leader);
  const cut = now();
  proxy.blackhole();
  samples.ask();
  const elected = await successor.next("elected", 0);
  samples.stop();
  const bound = TIMEOUT + tick + 500 + (await pace.slack(cut));
  findings.must(samples.lastTrue > cut, "the leader did not lead when its link was cut");
  findings.must(atElected === false, `isLeader was ${atElected} when the successor was told that it is elected`);
  findings.must(
    samples.lastTrue < elected.at,
    `isLeader was true ${(samples.lastTrue - elected.at).toFixed(1)} ms after the successor was elected`,
  );
  findings.must(elected.at - cut <= bound, `it took ${(elected.at - cut).toFixed(0)} ms until there was a leader again`);
  findings.must(leader.count("lost") === 1, `lost was told ${leader.count("lost")} times`);
  findings.figure("led on after the cut", samples.lastTrue - cut);
  findings.figure("successor after the cut", elected.at - cut);
  findings.figure("in hand", elected.at - samples.lastTrue);

  const from = leader.told.length;
  proxy.heal();
  await leader.next("standby", from);
  return findings.verdict();
}
