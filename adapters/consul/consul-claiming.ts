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
  /** Of the claim whose outcome is not known; 0: there is none. */
  #epoch = 0;

  constructor(around: Surroundings, own: OwnPlace, card: Card) {
    this.#around = around;
    this.#own = own;
    this.#card = card;
    this.delay = new Delay(around.clock, around.lockDelay);
  }

  /** After this, a doubtful claim can commit no more: what a look shows then is what came of it. */
  async closeDoubt(signal: Ender): Promise<void> {
    if (this.#epoch === 0) return;
    await this.#around.epoch.close(this.#epoch, signal);
    this.#epoch = 0;
  }

  async claim({ term, index }: ConsulHead, signal: Ender): Promise<ConsulHeld | Refused> {
    const { requests, paths, clock, anchor, epoch } = this.#around;
    const { name: entry, key, session } = this.#own;
    const { id, metadata } = this.#card;
    const number = (term?.number ?? 0) + 1;
    const extra = term?.extra ?? {};
    const record = writeTerm({ extra, number, entry, session, id, metadata, since: new Date(clock.wall()) });
    this.#epoch = epoch.index;
    // A claim that comes late, after a withdrawal, finds the place gone (REPORT C8b); after a look that was to find out, the epoch closed.
    const operations: Operation[] = [
      epoch.check,
      { verb: "check-session", key, session },
      { verb: "lock", key: paths.leader, value: writeLock({ entry, anchor, stead: null }), session },
      { verb: "cas", key: paths.term, value: record, index },
      { verb: "delete", key },
    ];
    try {
      const results = await requests.write(operations, signal);
      this.#epoch = 0;
      this.delay.over();
      return { ...held(paths, session, (results[2] as Entry).modifyIndex, number), extra };
    } catch (error) {
      if (asStoreError(error) !== error) this.#epoch = 0;
      if (isRefused(error, "check", 0)) await epoch.refresh(signal);
      if (isRefused(error, "delay")) return { kind: "refused", wait: this.delay.refused() };
      if (isRefused(error, "held") || isRefused(error, "check")) return { kind: "refused", wait: 0 };
      throw asStoreError(error);
    }
  }
}
