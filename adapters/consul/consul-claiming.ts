import type { Ender } from "../../src/clock.js";
import type { Card, Refused } from "../../src/store.js";
import type { Entry, Operation } from "./client/consul-wire.js";
import { Delay } from "./consul-delay.js";
import type { OwnPlace } from "./consul-place.js";
import { writeLock, writeTerm } from "./consul-record.js";
import { asStoreError, isRefused } from "./consul-requests.js";
import type { Surroundings } from "./consul-surroundings.js";
import { type ConsulHead, type ConsulHeld, held } from "./consul-view.js";

/** Taking a seat that is free. */
export class Claiming {
  readonly delay: Delay;
  readonly #around: Surroundings;
  readonly #own: OwnPlace;
  readonly #card: Card;

  constructor(around: Surroundings, own: OwnPlace, card: Card) {
    this.#around = around;
    this.#own = own;
    this.#card = card;
    this.delay = new Delay(around.clock, around.lockDelay);
  }

  async claim({ term, index }: ConsulHead, signal: Ender): Promise<ConsulHeld | Refused> {
    const { requests, paths, clock, anchor } = this.#around;
    const { name: entry, key, session } = this.#own;
    const { id, metadata } = this.#card;
    const number = (term?.number ?? 0) + 1;
    const extra = term?.extra ?? {};
    const record = writeTerm({ extra, number, entry, session, id, metadata, since: new Date(clock.wall()) });
    // A claim that comes late, after a withdrawal, finds the place gone (REPORT C8b).
    const operations: Operation[] = [
      { verb: "check-session", key, session },
      { verb: "lock", key: paths.leader, value: writeLock({ entry, anchor, stead: null }), session },
      { verb: "cas", key: paths.term, value: record, index },
      { verb: "delete", key },
    ];
    try {
      const results = await requests.write(operations, signal);
      this.delay.over();
      return held(BigInt((results[1] as Entry).modifyIndex), number, [], extra);
    } catch (error) {
      if (isRefused(error, "delay")) return { kind: "refused", wait: this.delay.refused() };
      if (isRefused(error, "held") || isRefused(error, "check")) return { kind: "refused", wait: 0 };
      throw asStoreError(error);
    }
  }
}
