import type { LoggedRequest } from "./http-proxy-log.js";

/** What becomes of a request. */
export type Action =
  | { readonly kind: "answer"; readonly status: number; readonly body: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "delay"; readonly ms: number; readonly what: "request" | "answer" }
  | { readonly kind: "drop" | "mute" | "cutBody" | "hold" | "swallow" };

/** Not forwarded: answered by the proxy. */
export function answer(status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Action {
  return { kind: "answer", status, body: typeof body === "string" ? body : JSON.stringify(body), headers };
}

/** The request is forwarded, or its answer passed on (default), only after `ms`, whether or not the client is still there. */
export function delay(ms: number, what: "request" | "answer" = "answer"): Action {
  return { kind: "delay", ms, what };
}

/** Forwarded; when the server has answered, the client's connection is closed without a byte of it. */
export const drop: Action = { kind: "drop" };
/** Forwarded, never answered; the connection stays open. */
export const mute: Action = { kind: "mute" };
/** Forwarded; the client gets half of the answer's body, then its connection is closed. */
export const cutBody: Action = { kind: "cutBody" };
/** Kept until the rule's `release()`, and forwarded then even if the client has given up meanwhile: a late commit. */
export const hold: Action = { kind: "hold" };
/** Not forwarded, never answered; the connection stays open. */
export const swallow: Action = { kind: "swallow" };

/** All that is given must hold. */
export interface Match {
  readonly method?: string;
  /** Text: the beginning of the path. */
  readonly path?: string | RegExp;
  /** Of a transaction: one of its operations has this verb, and a key of this kind. */
  readonly verb?: string;
  readonly key?: string | RegExp;
  readonly where?: (request: LoggedRequest) => boolean;
}

export function matches(match: Match, request: LoggedRequest): boolean {
  const { method, path, verb, key, where } = match;
  if (method !== undefined && method !== request.method) return false;
  if (!fits(path, request.path)) return false;
  if (verb !== undefined || key !== undefined) {
    const fitting = request.operations.some((operation) => (verb === undefined || verb === operation.verb) && fits(key, operation.key));
    if (!fitting) return false;
  }
  return where === undefined || where(request);
}

function fits(wanted: string | RegExp | undefined, text: string): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? text.startsWith(wanted) : wanted.test(text);
}

export interface RuleOptions {
  /** How many requests it meets; then it ends. Default 1. */
  readonly times?: number;
  /** How many that match pass before. Default 0. */
  readonly after?: number;
}

/** A rule of a proxy. */
export class Rule {
  readonly match: Match;
  readonly action: Action;
  /** Resolves to the first request that it met, once that has come. */
  readonly hit: Promise<LoggedRequest>;
  /**
   * Resolves to it once it has been carried out: the server has answered (drop, mute, cutBody, delay; hold: after its release)
   * and the client has been told, cut off or left; at once for `answer` and `swallow`.
   */
  readonly done: Promise<LoggedRequest>;
  /** The requests that it has met. */
  readonly requests: LoggedRequest[] = [];
  readonly #held: (() => Promise<void>)[] = [];
  #hit!: (request: LoggedRequest) => void;
  #done!: (request: LoggedRequest) => void;
  #times: number;
  #after: number;

  constructor(match: Match, action: Action, { times = 1, after = 0 }: RuleOptions) {
    this.match = match;
    this.action = action;
    this.#times = times;
    this.#after = after;
    this.hit = new Promise((resolve) => {
      this.#hit = resolve;
    });
    this.done = new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  /** How many requests it has met. */
  get hits(): number {
    return this.requests.length;
  }

  /** Ends it; what it holds stays held. */
  remove(): void {
    this.#times = 0;
  }

  /** Ends it; forwards what it holds, each one when the one before has been answered. Resolves when all have been. */
  async release(): Promise<void> {
    this.remove();
    for (let next = this.#held.shift(); next; next = this.#held.shift()) await next();
  }

  /** For the proxy: whether it takes this request. */
  take(request: LoggedRequest): boolean {
    if (this.#times <= 0 || !matches(this.match, request)) return false;
    if (this.#after > 0) {
      this.#after--;
      return false;
    }
    this.#times--;
    this.requests.push(request);
    this.#hit(request);
    return true;
  }

  /** For the proxy: to be forwarded by `release`. */
  keep(forward: () => Promise<void>): void {
    this.#held.push(forward);
  }

  /** For the proxy: it has been carried out. */
  finish(request: LoggedRequest): void {
    this.#done(request);
  }
}
