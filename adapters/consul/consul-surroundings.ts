import type { Clock } from "../../src/clock.js";
import type { Epoch } from "./consul-epoch.js";
import type { Lifetime } from "./consul-lifetime.js";
import type { Locks } from "./consul-locks.js";
import type { Mailbox } from "./consul-mailbox.js";
import type { Neighbours } from "./consul-neighbours.js";
import type { ElectionPaths } from "./consul-paths.js";
import type { Requests } from "./consul-requests.js";
import type { Sweep } from "./consul-sweep.js";

/** What the candidacies of a session share. */
export interface SessionParts {
  readonly clock: Clock;
  readonly prefix: string;
  /** ms */
  readonly lockDelay: number;
  /** The session's id. */
  readonly session: string;
  /** ModifyIndex of the session's own key. */
  readonly anchor: number;
  readonly lifetime: Lifetime;
  readonly requests: Requests;
  readonly epoch: Epoch;
  readonly mailbox: Mailbox;
  readonly neighbours: Neighbours;
  readonly locks: Locks;
  readonly sweep: Sweep;
  /** The place that was last seated on this session, by election, until it has been left. */
  readonly seated: Map<string, string>;
  /** A number for a place that no other place of this session has. */
  nextCount(): number;
}

/** What a candidacy needs of its session. */
export interface Surroundings extends SessionParts {
  readonly paths: ElectionPaths;
}
