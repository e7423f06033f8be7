import type { Ender } from "../../src/clock.js";
import { isTimeout } from "../../src/errors.js";
import { onAbort } from "./client/zookeeper-client-abort.js";
import type { Operation, ZooKeeperClient, ZooKeeperStat } from "./client/zookeeper-wire.js";
import { isRefusal } from "./zookeeper-refusals.js";

/** What an operation answers: the path for create, the stat for setData, null for the others. */
export type WriteResult = string | ZooKeeperStat | null;

/** One caller's operations: all or nothing. */
interface Group {
  readonly operations: readonly Operation[];
  readonly signal: Ender;
  resolve(results: WriteResult[]): void;
  reject(error: unknown): void;
}

/** So many operations share a transaction: more bring no more (measured: the rate is level from 50 to 250). */
const LARGEST_BATCH = 100;
/** More elections than this that fail for good in one transaction are found one by one. */
const TOGETHER = 3;
/** Bytes; half of what a server takes by default (jute.maxbuffer). */
const LARGEST_BYTES = 512 * 1024;
/** What an operation takes beside its paths and data: header, version, ACL. */
const OVERHEAD = 128;

/**
 * The writes of one turn of the event loop: sent at its end, in as few transactions as they fit in. That is ten times the
 * rate of one by one, and costs a lone write nothing. A transaction that is refused has done nothing, so its groups are
 * sent again: the one at fault by itself, so that each gets its own answer.
 */
export class Turn {
  readonly #client: ZooKeeperClient;
  #groups: Group[] = [];
  #sent: Promise<void> | null = null;

  constructor(client: ZooKeeperClient) {
    this.#client = client;
  }

  write(operations: readonly Operation[], signal: Ender): Promise<WriteResult[]> {
    return new Promise((resolve, reject) => {
      this.#groups.push({ operations, signal, resolve, reject });
      this.#sent ??= new Promise((done) => {
        process.nextTick(() => {
          this.#send();
          done();
        });
      });
    });
  }

  /** Resolves when the writes asked for so far have been handed to the connection: what is read then is read behind them. Null: they have. */
  written(): Promise<void> | null {
    return this.#sent;
  }

  #send(): void {
    const groups = this.#groups;
    this.#groups = [];
    this.#sent = null;
    let batch: Group[] = [];
    let count = 0;
    let bytes = 0;
    for (const group of groups) {
      if (group.signal.aborted) {
        group.reject(group.signal.reason);
        continue;
      }
      const size = sizeOf(group);
      if (batch.length > 0 && (count + group.operations.length > LARGEST_BATCH || bytes + size > LARGEST_BYTES)) {
        this.#transact(batch);
        batch = [];
        count = 0;
        bytes = 0;
      }
      batch.push(group);
      count += group.operations.length;
      bytes += size;
    }
    this.#transact(batch);
  }

  /** `tries`: how often what is left of a refused transaction still goes out together. */
  #transact(batch: readonly Group[], tries = TOGETHER): void {
    const [only, ...others] = batch;
    if (only === undefined) return;
    if (others.length === 0) return this.#alone(only);
    // One caller that gives up does not end what the others wait for, unless it says that the link is suspect.
    const controller = new AbortController();
    const forget = batch.map((group) =>
      onAbort(group.signal, () => {
        group.reject(group.signal.reason);
        if (isTimeout(group.signal.reason)) controller.abort(group.signal.reason);
      }),
    );
    this.#client
      .multi(
        batch.flatMap(({ operations }) => operations),
        controller.signal,
      )
      .then(
        (results) => {
          let from = 0;
          for (const group of batch) group.resolve(results.slice(from, (from += group.operations.length)));
        },
        (error) => {
          if (isRefusal(error)) return this.#again(batch, error.index, tries);
          for (const group of batch) group.reject(error);
        },
      )
      .finally(() => {
        for (const stop of forget) stop();
      });
  }

  /** The group at fault alone, the others together while there is hope, then one by one. */
  #again(batch: readonly Group[], index: number, tries: number): void {
    let from = 0;
    const wanted: Group[] = [];
    for (const group of batch) {
      const atFault = index >= from && index < from + group.operations.length;
      from += group.operations.length;
      // Whoever gave up meanwhile was told; nothing of it may happen now.
      if (group.signal.aborted) continue;
      if (atFault || tries === 0) this.#alone(group);
      else wanted.push(group);
    }
    this.#transact(wanted, tries - 1);
  }

  #alone({ operations, signal, resolve, reject }: Group): void {
    this.#single(operations, signal).then(resolve, reject);
  }

  async #single(operations: readonly Operation[], signal: Ender): Promise<WriteResult[]> {
    const [only, ...others] = operations;
    if (only === undefined || others.length > 0) return this.#client.multi(operations, signal);
    switch (only.op) {
      case "create":
        return [await this.#client.create(only.path, only.data, only.mode, signal)];
      case "delete":
        await this.#client.delete(only.path, only.version, signal);
        return [null];
      case "setData":
        return [await this.#client.setData(only.path, only.data, only.version, signal)];
      case "check":
        return this.#client.multi(operations, signal);
    }
  }
}

function sizeOf({ operations }: Group): number {
  let bytes = 0;
  for (const operation of operations) bytes += OVERHEAD + operation.path.length + ("data" in operation ? operation.data.length : 0);
  return bytes;
}
