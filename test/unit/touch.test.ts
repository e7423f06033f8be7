import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { Elector } from "../../src/elector.js";
import { ManualClock } from "../../src/manual-clock.js";
import type { Session, Store } from "../../src/store.js";

const TTL = 10_000;

/** A store whose touches vouch as its proofs do, and that counts the proofs. */
function vouching(store: Store, count: { proofs: number }, vouches: boolean): Store {
  return {
    name: store.name,
    open: async (request, signal) => {
      const session = await store.open(request, signal);
      return new Proxy(session, {
        get(target, name) {
          if (name === "touch") {
            return async (end: AbortSignal) => {
              const proof = await target.prove(end);
              return vouches ? proof : null;
            };
          }
          if (name === "prove") {
            return (end: AbortSignal) => {
              count.proofs++;
              return target.prove(end);
            };
          }
          const value = Reflect.get(target, name) as unknown;
          return typeof value === "function" ? value.bind(target) : value;
        },
      }) as Session;
    },
  };
}

describe("a touch that vouches", () => {
  for (const [vouches, proofs] of [
    [true, 0],
    [false, 1],
  ] as const) {
    it(`${vouches ? "spares the next leader the proof before its term" : "that does not: it proves in the flight of its look"}`, async () => {
      const clock = new ManualClock();
      const server = memory({ ttl: TTL, clock });
      const count = { proofs: 0 };
      const leader = new Elector({ store: server.client("a"), election: "seat", id: "a", clock });
      const waiter = new Elector({ store: vouching(server.client("b"), count, vouches), election: "seat", id: "b", clock });
      leader.start();
      await clock.settle();
      waiter.start();
      await clock.settle();
      // Long enough for the proof of its opening to be too old, and for touches.
      await clock.advance(1.5 * TTL);
      count.proofs = 0;
      const stopped = leader.stop();
      await clock.advanceUntil(() => waiter.isLeader, 1000);
      await stopped;
      expect(count.proofs).toBe(proofs);
      await waiter.stop();
    });
  }
});
