import type { ZooKeeperOptions } from "../../../../adapters/zookeeper/index.js";
import { fresh } from "../../../support/names.js";
import { startProxy } from "../../../support/proxy.js";
import { Candidate, type WorkKind } from "../candidate.js";
import { now } from "../now.js";
import { sample } from "../sampler.js";
import { Findings, type Verdict } from "../verdict.js";

/** Milliseconds. */
const TIMEOUT = 4000;
const INTERVAL = TIMEOUT / 5;

/**
 * The leader's link swallows everything. It must say that it does not lead before another one does, by its own clock
 * alone; and stand again once the link is back. `tick`: the server's tickTime, ms. `tls`: how
 * to speak TLS to it.
 */
export async function blackholedLeader(
  server: string,
  tick: number,
  work: WorkKind,
  tls: ZooKeeperOptions["tls"] = false,
): Promise<Verdict> {
  const findings = new Findings();
  const root = `/${fresh("blackhole")}`;
  await using proxy = await startProxy(Number(server.split(":")[1]), { framed: tls === false });
  await using leader = new Candidate({ store: { servers: proxy.address, root, sessionTimeout: TIMEOUT, tls }, id: "leader", work });
  await leader.start().next("elected", 10_000, 0);
  let atElected: boolean | undefined;
  await using successor = new Candidate({
    store: { servers: server, root, sessionTimeout: TIMEOUT, tls },
    id: "successor",
    onElected: () => {
      atElected = leader.isLeader;
    },
  });
  await successor.start().next("standby", 10_000, 0);
  // A phase of chance between two proofs.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * INTERVAL));

  const samples = sample(leader);
  const cut = now();
  proxy.blackhole();
  const elected = await successor.next("elected", TIMEOUT + tick + 3000, 0);
  samples.stop();
  findings.must(samples.lastTrue > cut, "the leader did not lead when its link was cut");
  findings.must(atElected === false, `isLeader was ${atElected} when the successor was told that it is elected`);
  findings.must(
    samples.lastTrue < elected.at,
    `isLeader was true ${(samples.lastTrue - elected.at).toFixed(1)} ms after the successor was elected`,
  );
  findings.must(elected.at - cut <= TIMEOUT + tick + 500, `it took ${(elected.at - cut).toFixed(0)} ms until there was a leader again`);
  findings.must(leader.count("lost") === 1, `lost was told ${leader.count("lost")} times`);
  findings.figure("led on after the cut", samples.lastTrue - cut);
  findings.figure("successor after the cut", elected.at - cut);
  findings.figure("in hand", elected.at - samples.lastTrue);

  const from = leader.told.length;
  proxy.heal();
  await leader.next("standby", 2 * TIMEOUT, from);
  return findings.verdict();
}
