export type { Clock, Ender, EndListener, Instant, Timer } from "./clock.js";
export type { Duration } from "./duration.js";
export { Elector, type WaitOptions } from "./elector.js";
export {
  ConfigError,
  DrainingError,
  isTimeout,
  LostError,
  type LostReason,
  StoppedError,
  StoreError,
  type StoreErrorCode,
  TenureError,
} from "./errors.js";
export type { ElectorEvents } from "./events.js";
export { type Eviction, type EvictOptions, evict } from "./evict.js";
export { type Inspection, inspect } from "./inspect.js";
export type { Work } from "./lead.js";
export { type ElectionList, type ListedElection, type ListOptions, listElections } from "./list-elections.js";
export type { Logger } from "./logger.js";
export { type ObserveOptions, type Observer, type ObserverEvents, observe } from "./observer.js";
export type { InspectOptions } from "./on-session.js";
export type { ElectorOptions } from "./options.js";
export type { ElectorState } from "./states.js";
export type * from "./store.js";
export type { DrainReason, Term } from "./term.js";
