import { describe, expect, it } from "vitest";
import { restartedInTime, restartedTooLate, restartedWhileDraining, wiped } from "./support/scenarios/restarts.js";

describe.concurrent("a server that is stopped and started again", () => {
  it("before admission closes: the same term goes on", async () => {
    expect((await restartedInTime(40_000)).problems).toEqual([]);
  });

  it("before the deadline: the term yields and the candidate stands again", async () => {
    expect((await restartedWhileDraining(40_000, 20_000)).problems).toEqual([]);
  });

  it("after the deadline: the term is lost, and there is a leader once the server is back", async () => {
    expect((await restartedTooLate(6000)).problems).toEqual([]);
  });

  it("without its data: all stand again, and each process refuses a lower fence once at most", async () => {
    expect((await wiped(6000)).problems).toEqual([]);
  });
});
