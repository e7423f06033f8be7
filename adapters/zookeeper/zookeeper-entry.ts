import { randomBytes } from "node:crypto";
import type { Ender } from "../../src/clock.js";
import type { Operation } from "./client/zookeeper-wire.js";
import { type ElectionPaths, nameOf } from "./zookeeper-paths.js";
import { parseEntry } from "./zookeeper-queue.js";
import { isRefusal } from "./zookeeper-refusals.js";
import type { Requests } from "./zookeeper-requests.js";

/**
 * My entry in the queue of one election, made once at most.
 * - `none`: surely not there
 * - `doubtful`: a create was sent and its outcome is not known
 * - `made`: created on this session; `name` tells it
 */
export class OwnEntry {
  readonly #requests: Requests;
  readonly #paths: ElectionPaths;
  readonly #card: Buffer;
  readonly #guid = randomBytes(16).toString("hex");
  #state: "none" | "doubtful" | "made" = "none";
  #name = "";
  #sent = false;
  #ownerKnown = false;

  constructor(requests: Requests, paths: ElectionPaths, card: Buffer) {
    this.#requests = requests;
    this.#paths = paths;
    this.#card = card;
  }

  get state(): "none" | "doubtful" | "made" {
    return this.#state;
  }

  /** Whether anything was ever sent. */
  get sent(): boolean {
    return this.#sent;
  }

  /** Only while `made`. */
  get name(): string {
    return this.#name;
  }

  get path(): string {
    return this.#paths.entry(this.#name);
  }

  /** Whether the entry `name` is this one, though its create has not been answered. */
  matches(name: string): boolean {
    return parseEntry(name)?.guid === this.#guid;
  }

  /** Sends the create, at once. Whatever becomes of the reply, `state` is right afterwards. */
  async create(signal: Ender): Promise<void> {
    const path = this.#paths.entry(`${this.#guid}-`);
    this.#state = "doubtful";
    this.#sent = true;
    const create = { op: "create", path, data: this.#card, mode: "ephemeral-sequential" } as const;
    try {
      const results = await this.#requests.write([...this.#mayLeave(), create], signal);
      this.#found(nameOf(String(results.at(-1))), true);
    } catch (error) {
      if (isRefusal(error)) this.#state = "none";
      throw error;
    }
  }

  /**
   * Settles a doubtful create by a list that was read behind a `sync` in the same flight. Without the `sync` a lagging
   * server hides the entry, and it gets the seat later with nobody behind it (model, Z1); with it, an entry that is not
   * listed was never made: a create still on its way by an earlier connection is refused, because the session has moved.
   */
  settle(children: readonly string[]): void {
    const name = children.find((child) => this.matches(child));
    if (name === undefined) this.#state = "none";
    else this.#found(name, false);
  }

  /**
   * Whether the entry belongs to this session. A create that was answered says so; one found by its GUID is looked at,
   * because a session that died may have left it (Curator 498 and 696 led with such entries).
   */
  async isOwned(signal: Ender): Promise<boolean> {
    if (this.#ownerKnown) return true;
    const stat = await this.#requests.exists(this.path, signal);
    this.#ownerKnown = stat?.ephemeralOwner === this.#requests.sessionId;
    return this.#ownerKnown;
  }

  /**
   * Whoever joins must be able to leave: without DELETE the entry, and with it the seat, would stay until the session ends. So where
   * access is guarded, the transaction that joins also makes and deletes a node of another name.
   */
  #mayLeave(): Operation[] {
    if (!this.#requests.guarded) return [];
    const path = this.#paths.entry(`${this.#guid}-may-leave`);
    return [
      { op: "create", path, data: Buffer.alloc(0), mode: "persistent" },
      { op: "delete", path, version: -1 },
    ];
  }

  #found(name: string, ownerKnown: boolean): void {
    this.#state = "made";
    this.#name = name;
    this.#ownerKnown = ownerKnown;
  }
}
