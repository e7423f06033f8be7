import { describe, expect, it } from "vitest";
import { Pulse } from "../../adapters/zookeeper/client/zookeeper-client-pulse.js";
import { ManualClock } from "../../src/manual-clock.js";

const PING = 1000;

/** A link whose server answers each request when it is told to. */
function link(silence = 2000) {
  const clock = new ManualClock();
  const start = clock.mono();
  const log: string[] = [];
  const note = (what: string) => log.push(`${what} ${clock.mono() - start}`);
  let owed = 0;
  const send = () => {
    owed++;
    pulse.sent();
  };
  const pulse: Pulse = new Pulse(
    clock,
    { ping: PING, silence },
    {
      sendPing: () => {
        note("ping");
        send();
      },
      giveUp: () => {
        note("dead");
        pulse.stop();
      },
      waiting: () => owed > 0,
    },
  );
  const answer = () => {
    owed--;
    pulse.heard();
  };
  return { clock, log, pulse, send, answer };
}

describe("pings", () => {
  it("go out when nothing was sent for a while", async () => {
    const { clock, log, send, answer } = link();
    await clock.advance(600);
    send();
    answer();
    await clock.advance(999);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(log).toEqual(["ping 1600"]);
  });

  it("do not stay away because the server sends (it hears nothing of us meanwhile)", async () => {
    const { clock, log, pulse } = link();
    for (let i = 0; i < 11; i++) {
      await clock.advance(100);
      pulse.heard();
    }
    expect(log).toEqual(["ping 1000"]);
  });

  it("stop", async () => {
    const { clock, log, pulse } = link();
    pulse.stop();
    pulse.sent();
    await clock.advance(10_000);
    expect(log).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe("a dead link", () => {
  it("is noticed when no byte has come for the read timeout and an answer is due", async () => {
    const { clock, log } = link();
    await clock.advance(10_000);
    expect(log).toEqual(["ping 1000", "dead 2000"]);
  });

  it("is not one on which nothing is due", async () => {
    const { clock, log, answer } = link(500);
    await clock.advance(PING);
    answer();
    await clock.advance(PING - 1);
    expect(log).toEqual(["ping 1000"]);
  });

  it("is not one that brings bytes, however late the answer is", async () => {
    const { clock, log, send, pulse } = link();
    send();
    for (let i = 0; i < 9; i++) {
      await clock.advance(1000);
      pulse.heard();
    }
    expect(log.filter((line) => line.startsWith("dead"))).toEqual([]);
  });

  it("is noticed in time when the read timeout is shorter than what was to be waited for", async () => {
    const { clock, log, send } = link(300);
    await clock.advance(100);
    send();
    await clock.advance(500);
    expect(log).toEqual(["dead 400"]);
  });

  it("is given time for an answer after a stall: what was heard last is long ago then, for our own reasons", async () => {
    const { clock, log, send, answer } = link();
    clock.pause();
    await clock.advance(5000);
    send();
    await clock.resume();
    await clock.advance(PING - 1);
    expect(log.filter((line) => line.startsWith("dead"))).toEqual([]);
    answer();
  });

  it("is looked at twice: the process may have been stopped, with the answer waiting in its socket", async () => {
    const { clock, log, send, answer } = link();
    send();
    // Stands for the event loop: overdue timers first, then the sockets.
    clock.after(2500, answer);
    clock.pause();
    await clock.advance(5000);
    await clock.resume();
    await clock.advance(PING - 1);
    expect(log.filter((line) => line.startsWith("dead"))).toEqual([]);
  });

  it("is not seen in a step of the wall clock", async () => {
    const { clock, log, send } = link();
    send();
    clock.stepWall(3_600_000);
    await clock.advance(100);
    expect(log).toEqual([]);
  });
});
