import type { EventEmitter } from "node:events";
import type { Agent } from "node:http";
import { StoreError } from "../../../src/errors.js";

/** A request as the package's base class takes it (papi, `Client._request`). */
export interface PackageRequest {
  /** Below `/v1`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes are sent as they are. */
  readonly body?: Buffer;
  /** Of the whole call, ms. Without one a promise may never settle: a black hole, or a connection that ends in mid-body. */
  readonly timeout: number;
  /** Emitting `cancel` ends the call and closes its socket; an AbortSignal is ignored. */
  readonly ctx: EventEmitter;
}

export interface PackageResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** JSON is decoded; else text or bytes. */
  readonly body?: unknown;
}

/** What we use of the `consul` package: the requests that its own methods are made of. Those drop parameters (`ns`) and mangle values. */
export interface Package {
  _get(request: PackageRequest): Promise<PackageResponse>;
  _put(request: PackageRequest): Promise<PackageResponse>;
}

export interface PackageOptions {
  readonly baseUrl: string;
  readonly agent: Agent;
  readonly socketPath?: string;
  readonly [tls: string]: unknown;
}

type Constructor = new (options: PackageOptions) => Package;

/** Loads the `consul` package. Throws a StoreError that names it when it is not installed. */
export async function loadPackage(): Promise<Constructor> {
  try {
    const loaded = (await import("consul")) as unknown as { default?: Constructor };
    if (loaded.default) return loaded.default;
    throw new Error("it exports nothing by default");
  } catch (error) {
    throw new StoreError(
      "unsupported",
      `cannot load the package "consul": ${(error as Error).message}; install it: npm install consul@2.0.1`,
      {
        cause: error,
      },
    );
  }
}
