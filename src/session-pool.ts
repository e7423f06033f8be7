import { Backoff } from "./backoff.js";
import { type Clock, type Ender, sleep } from "./clock.js";
import { StoppedError, StoreError } from "./errors.js";
import { SharedSession } from "./shared-session.js";
import type { Store } from "./store.js";

const REOPEN_BASE = 250;
const REOPEN_CAP = 3000;

/** How a user of a session asks for one. */
export interface AcquireOptions {
  readonly signal: Ender;
  /** Reject at the first failure instead of trying on. */
  readonly once?: boolean;
  /** Whether this user may own an entry on the session: it then counts for {@link SessionPool.stuck}. */
  readonly stands?: boolean;
  /** Told of each failed try to open a session, and of the wait before the next, ms. */
  readonly onTrouble?: (error: unknown, wait: number) => void;
}

interface Waiter {
  resolve(session: SharedSession): void;
  reject(error: unknown): void;
  readonly options: AcquireOptions;
}

/**
 * The session that all users of one store value share: opened by the first, closed after the last. When it dies, one
 * loop opens the next for everybody, with one backoff (full jitter, 250 ms doubling to 3 s; reset once a session has
 * lived for its ttl).
 */
export class SessionPool {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #users = new Map<SharedSession, number>();
  /** How many of the users stand. */
  readonly #standing = new WeakMap<SharedSession, number>();
  readonly #stuck = new WeakMap<SharedSession, number>();
  readonly #waiters = new Set<Waiter>();
  /** The highest fence that this process has seen, by election. */
  readonly #fences = new Map<string, bigint>();
  #current: SharedSession | null = null;
  #opening: AbortController | null = null;
  #pause = false;

  private constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#backoff = new Backoff(clock, REOPEN_BASE, REOPEN_CAP);
  }

  static readonly #pools = new WeakMap<Store, Map<Clock, SessionPool>>();

  /** The pool of `store`; one for each clock, though all but tests have one clock. */
  static of(store: Store, clock: Clock): SessionPool {
    let byClock = SessionPool.#pools.get(store);
    if (!byClock) SessionPool.#pools.set(store, (byClock = new Map()));
    let pool = byClock.get(clock);
    if (!pool) byClock.set(clock, (pool = new SessionPool(store, clock)));
    return pool;
  }

  /** The highest fence seen for `election`; 0n if none. */
  highest(election: string): bigint {
    return this.#fences.get(election) ?? 0n;
  }

  /** The store showed `fence` as the last of `election`. */
  saw(election: string, fence: bigint): void {
    if (fence > this.highest(election)) this.#fences.set(election, fence);
  }

  /** Takes `fence` as the highest of `election`, also when it is lower than the one before. */
  setHighest(election: string, fence: bigint): void {
    this.#fences.set(election, fence);
  }

  /** A session to use until `release`. Rejects with an error that trying again does not cure, or with the signal's reason. */
  acquire(options: AcquireOptions): Promise<SharedSession> {
    const { signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#current) return Promise.resolve(this.#use(this.#current, options));
    return new Promise((resolve, reject) => {
      const done = () => {
        signal.removeEventListener("abort", onAbort);
        this.#waiters.delete(waiter);
        if (this.#waiters.size > 0) return;
        // Whoever comes next does not wait for a store that forgets the abort.
        this.#opening?.abort(new StoppedError("nobody waits for a session any more"));
        this.#opening = null;
      };
      const onAbort = () => waiter.reject(signal.reason);
      const waiter: Waiter = {
        options,
        resolve: (session) => {
          done();
          resolve(this.#use(session, options));
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(waiter);
      if (!this.#opening) void this.#open();
    });
  }

  /** Gives a session back; resolves when it needs no more waiting for (closed at the store, if this was its last user). */
  async release(session: SharedSession, { stands }: Pick<AcquireOptions, "stands"> = {}): Promise<void> {
    if (stands) this.#standing.set(session, (this.#standing.get(session) ?? 1) - 1);
    const left = (this.#users.get(session) ?? 1) - 1;
    if (left > 0) {
      this.#users.set(session, left);
      this.#closeIfStuck(session);
      return;
    }
    this.#users.delete(session);
    this.#forget(session);
    await session.close();
  }

  /**
   * A user of `session` cannot withdraw, or can again. When none of those who stand on it can, only its end removes their
   * entries. (Observers own none, and open another by themselves.)
   */
  stuck(session: SharedSession, isStuck: boolean): void {
    this.#stuck.set(session, (this.#stuck.get(session) ?? 0) + (isStuck ? 1 : -1));
    this.#closeIfStuck(session);
  }

  #closeIfStuck(session: SharedSession): void {
    const stuck = this.#stuck.get(session) ?? 0;
    if (stuck > 0 && stuck >= (this.#standing.get(session) ?? 0)) void session.close();
  }

  #use(session: SharedSession, { stands }: AcquireOptions): SharedSession {
    if (stands) this.#standing.set(session, (this.#standing.get(session) ?? 0) + 1);
    this.#users.set(session, (this.#users.get(session) ?? 0) + 1);
    return session;
  }

  #forget(session: SharedSession): void {
    if (this.#current === session) this.#current = null;
  }

  async #open(): Promise<void> {
    const opening = new AbortController();
    this.#opening = opening;
    try {
      while (this.#waiters.size > 0 && !opening.signal.aborted) {
        try {
          if (this.#pause) await sleep(this.#clock, this.#backoff.next(), opening.signal);
          this.#pause = false;
          const session = await this.#store.open({ clock: this.#clock }, opening.signal);
          this.#install(new SharedSession(session, this.#clock));
        } catch (error) {
          if (!opening.signal.aborted) await this.#failed(error, opening.signal);
        }
      }
    } catch {
      // Aborted while it waited: nobody waits for a session any more.
    } finally {
      if (this.#opening === opening) this.#opening = null;
      // Somebody may have come after the abort.
      if (this.#waiters.size > 0 && !this.#opening) void this.#open();
    }
  }

  #install(session: SharedSession): void {
    if (session.closing.aborted) throw session.closing.reason;
    // From here on the opening signal has nothing left to abort.
    this.#opening = null;
    if (this.#waiters.size === 0) return void session.close();
    const opened = this.#clock.mono();
    this.#current = session;
    session.closing.addEventListener(
      "abort",
      () => {
        // One that was closed on purpose is no reason to wait.
        if (this.#current !== session) return;
        this.#current = null;
        this.#pause = true;
        if (this.#clock.mono() - opened >= session.timing.ttl) this.#backoff.reset();
      },
      { once: true },
    );
    for (const waiter of [...this.#waiters]) waiter.resolve(session);
  }

  async #failed(error: unknown, signal: Ender): Promise<void> {
    // A session that ends while it is being opened is not the one that is opened next.
    const lasting = !(error instanceof StoreError && (error.transient || error.code === "session-ended"));
    const wait = this.#backoff.next();
    for (const waiter of [...this.#waiters]) {
      if (lasting || waiter.options.once) waiter.reject(error);
      else waiter.options.onTrouble?.(error, wait);
    }
    if (this.#waiters.size > 0) await sleep(this.#clock, wait, signal);
  }
}
