import type { Clock } from "../../src/clock.js";
import type { Calm } from "./zookeeper-calm.js";
import type { ElectionPaths } from "./zookeeper-paths.js";
import type { Requests } from "./zookeeper-requests.js";

/** What a candidacy needs of its session. */
export interface Surroundings {
  readonly requests: Requests;
  readonly clock: Clock;
  readonly paths: ElectionPaths;
  readonly chroot: string;
  readonly calm: Calm;
}
