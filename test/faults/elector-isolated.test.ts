import { describe, expect, inject, it } from "vitest";
import { blackholedLeader } from "./support/scenarios/blackholed-leader.js";
import { killedLeader, stoppedLeader } from "./support/scenarios/stopped-process.js";

const server = inject("zookeeper");
const TICK = 500;

describe.concurrent("a leader that the store cannot hear", () => {
  it("with work that does not end before its term does says so before its successor is elected", async () => {
    expect((await blackholedLeader(server, TICK, "until-over")).problems).toEqual([]);
  });

  it("without work says so before its successor is elected", async () => {
    expect((await blackholedLeader(server, TICK, "none")).problems).toEqual([]);
  });

  it.each(["spin", "turns"] as const)("stopped by SIGSTOP says so at the first question after SIGCONT (%s)", async (how) => {
    expect((await stoppedLeader(server, TICK, how)).problems).toEqual([]);
  });

  it("killed by SIGKILL is succeeded within session timeout, a tick and 500 ms", async () => {
    expect((await killedLeader(server, TICK)).problems).toEqual([]);
  });
});
