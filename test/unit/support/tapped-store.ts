import type { Card, Contender, HeadPlace, OpenRequest, Place, Proof, Seen, Session, Store } from "../../../src/store.js";

/** One call of the contract, as a tap sees it. */
export interface Call {
  /** Counts from 1. */
  readonly n: number;
  readonly name: keyof Session | keyof Contender | "open";
  /** Id of the session; "" when it opens one. */
  readonly session: string;
  readonly election: string;
  readonly signal: AbortSignal;
  /** How to withdraw. */
  readonly how?: string;
}

/** Runs a call, or something else in its place. */
export type Around = <T>(call: Call, pass: () => Promise<T>) => Promise<T>;

/** Every call of one store value passes here: recorded, and changed as a test wants it. */
export class TappedStore implements Store {
  readonly name = "tapped";
  readonly calls: Call[] = [];
  /** Ids of the sessions on which nothing more may be sent. */
  readonly abandoned = new Set<string>();
  /** How many calls have been answered, in either way. */
  answered = 0;
  around: Around = (_, pass) => pass();
  readonly #inner: Store;

  constructor(inner: Store) {
    this.#inner = inner;
  }

  async open(request: OpenRequest, signal: AbortSignal): Promise<Session> {
    const session = await this.run("open", "", "", signal, () => this.#inner.open(request, signal));
    return new TappedSession(this, session);
  }

  /** Names of the calls so far, of one session or of all. */
  names(session?: string): string[] {
    return this.calls.filter((call) => session === undefined || call.session === session).map(({ name }) => name);
  }

  count(name: Call["name"]): number {
    return this.calls.filter((call) => call.name === name).length;
  }

  async run<T>(name: Call["name"], session: string, election: string, signal: AbortSignal, pass: () => Promise<T>, how = ""): Promise<T> {
    const call: Call = { n: this.calls.length + 1, name, session, election, signal, how };
    this.calls.push(call);
    try {
      return await this.around(call, pass);
    } finally {
      this.answered++;
    }
  }
}

class TappedSession implements Session {
  readonly #tap: TappedStore;
  readonly #inner: Session;

  constructor(tap: TappedStore, inner: Session) {
    this.#tap = tap;
    this.#inner = inner;
  }

  get id() {
    return this.#inner.id;
  }
  get ttl() {
    return this.#inner.ttl;
  }
  get gap() {
    return this.#inner.gap;
  }
  get ended() {
    return this.#inner.ended;
  }

  prove(signal: AbortSignal): Promise<Proof> {
    return this.#run("prove", "", signal, () => this.#inner.prove(signal));
  }

  touch(signal: AbortSignal): Promise<Proof | null> {
    return this.#run("touch", "", signal, () => this.#inner.touch(signal));
  }

  contend(election: string, card: Card, replaces: Contender | null): Contender {
    const inner = this.#inner.contend(election, card, replaces instanceof TappedContender ? replaces.inner : null);
    return new TappedContender(inner, (name, signal, pass, how) => this.#run(name, election, signal, pass, how));
  }

  leader(election: string, signal: AbortSignal) {
    return this.#run("leader", election, signal, () => this.#inner.leader(election, signal));
  }

  queue(election: string, signal: AbortSignal) {
    return this.#run("queue", election, signal, () => this.#inner.queue(election, signal));
  }

  changed(election: string, seen: Parameters<Session["changed"]>[1], signal: AbortSignal): Promise<void> {
    return this.#run("changed", election, signal, () => this.#inner.changed(election, seen, signal));
  }

  elections(signal: AbortSignal) {
    return this.#run("elections", "", signal, () => this.#inner.elections(signal));
  }

  survey(election: string, signal: AbortSignal) {
    return this.#run("survey", election, signal, () => this.#inner.survey(election, signal));
  }

  evict(election: string, standing: Seen, stead: Card | null, signal: AbortSignal) {
    return this.#run("evict", election, signal, () => this.#inner.evict(election, standing, stead, signal));
  }

  close(signal: AbortSignal): Promise<void> {
    return this.#run("close", "", signal, () => this.#inner.close(signal));
  }

  abandon(): void {
    this.#tap.abandoned.add(this.id);
    this.#inner.abandon();
  }

  #run<T>(name: Call["name"], election: string, signal: AbortSignal, pass: () => Promise<T>, how?: string): Promise<T> {
    return this.#tap.run(name, this.id, election, signal, pass, how);
  }
}

type Run = <T>(name: Call["name"], signal: AbortSignal, pass: () => Promise<T>, how?: string) => Promise<T>;

class TappedContender implements Contender {
  readonly inner: Contender;
  readonly #run: Run;

  constructor(inner: Contender, run: Run) {
    this.inner = inner;
    this.#run = run;
  }

  look(signal: AbortSignal): Promise<Place> {
    return this.#run("look", signal, () => this.inner.look(signal));
  }
  moved(place: Place, signal: AbortSignal): Promise<void> {
    return this.#run("moved", signal, () => this.inner.moved(place, signal));
  }
  claim(place: HeadPlace, signal: AbortSignal) {
    return this.#run("claim", signal, () => this.inner.claim(place, signal));
  }
  unseated(signal: AbortSignal): Promise<void> {
    return this.#run("unseated", signal, () => this.inner.unseated(signal));
  }
  prepare(signal: AbortSignal): Promise<void> {
    return this.#run("prepare", signal, () => this.inner.prepare(signal));
  }
  withdraw(how: "hand-over" | "free", signal: AbortSignal): Promise<void> {
    return this.#run("withdraw", signal, () => this.inner.withdraw(how, signal), how);
  }
}

/** Never settles, whatever its signal says: a store that forgets an abort. */
export const swallow = <T>(): Promise<T> => new Promise<T>(() => {});
