import type { Clock } from "../../src/clock.js";
import type { ConsulClient, Found, Operation } from "./client/consul-wire.js";
import { mailbox } from "./consul-paths.js";
import { Poll } from "./consul-poll.js";
import { type Letter, readLetter } from "./consul-record.js";

/** A letter as it arrived. */
export interface Delivered extends Letter {
  /** ModifyIndex: that of the transaction that wrote it. */
  readonly index: number;
}

export type OnLetter = (letter: Delivered) => void;

/** As many letters are deleted at once, without waiting for the sweep. */
const FULL = 32;

/**
 * The letters of all elections of one session, by one blocking query. A letter says that something has changed just ahead; it wakes
 * every candidate of this session in that election.
 */
export class Mailbox {
  readonly #prefix: string;
  readonly #poll: Poll;
  readonly #candidates = new Map<string, Set<OnLetter>>();
  /** ModifyIndex of the last letter that was delivered, by election. */
  readonly #delivered = new Map<string, number>();
  /** Letters that lie there and have been delivered. */
  readonly #read = new Map<string, number>();
  readonly #onFull: () => void;

  /** `index`: of the anchor. */
  constructor(
    client: ConsulClient,
    clock: Clock,
    where: { prefix: string; session: string; index: number },
    port: { fell(): void; full(): void },
  ) {
    this.#prefix = mailbox(where.prefix, where.session);
    this.#onFull = port.full;
    this.#poll = new Poll(client, clock, { key: this.#prefix, recurse: true }, where.index, {
      found: (found) => this.#found(found),
      fell: port.fell,
    });
  }

  /** Every candidate of this session in `election` hears every letter. Returns what ends it. */
  subscribe(election: string, onLetter: OnLetter): () => void {
    const candidates = this.#candidates.get(election) ?? new Set();
    this.#candidates.set(election, candidates.add(onLetter));
    return () => {
      candidates.delete(onLetter);
      if (candidates.size === 0 && this.#candidates.get(election) === candidates) this.#candidates.delete(election);
    };
  }

  /**
   * Takes the letters that have been read out: operations that delete them, each by itself. By the index that was read: a plain delete would take
   * the next one unread, a deadlock that needs no fault (REPORT C1; test: "a letter that comes while the one before is deleted …").
   */
  takeRead(): Operation[] {
    const operations: Operation[] = [...this.#read].map(([key, index]) => ({ verb: "delete-cas", key, index }));
    this.#read.clear();
    return operations;
  }

  reopen(): void {
    this.#poll.reopen();
  }

  close(): void {
    this.#poll.close();
  }

  #found({ entries }: Found): void {
    const present = new Set<string>();
    const letters = entries.filter(({ key }) => key !== `${this.#prefix}_`).sort((a, b) => a.modifyIndex - b.modifyIndex);
    for (const { key, value, modifyIndex } of letters) {
      const election = key.slice(this.#prefix.length);
      present.add(election);
      // Also one that was read before: deleting it has failed.
      this.#read.set(key, modifyIndex);
      if (this.#delivered.get(election) === modifyIndex) continue;
      this.#delivered.set(election, modifyIndex);
      const letter = { ...readLetter(value), index: modifyIndex };
      for (const onLetter of [...(this.#candidates.get(election) ?? [])]) onLetter(letter);
    }
    for (const election of this.#delivered.keys()) if (!present.has(election)) this.#delivered.delete(election);
    if (this.#read.size >= FULL) this.#onFull();
  }
}
