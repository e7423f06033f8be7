import type { ClientOptions } from "./client/consul-wire.js";
export interface Settings {
  readonly name: string;
  readonly prefix: string;
  readonly ttl: number;
  readonly lockDelay: number;
  readonly checks: readonly string[];
  readonly node: string | null;
  readonly client: ClientOptions;
}
