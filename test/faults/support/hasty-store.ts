import type { Card, Contender, HeadPlace, HeldPlace, Place, Refused, Session, Store } from "../../../src/index.js";
import type { QueueView } from "./queue-view.js";

/**
 * A store with a deliberately wrong rule: a candidate claims the seat whenever its predecessor goes, whether or not that
 * one held it. (A claim is then made at whatever version `term` has at that moment.)
 */
export function hasty(store: Store, view: QueueView): Store {
  return { name: store.name, open: async (request, signal) => hastySession(await store.open(request, signal), view) };
}

function hastySession(session: Session, view: QueueView): Session {
  const inner = (contender: Contender | null) => (contender instanceof HastyContender ? contender.inner : contender);
  return {
    id: session.id,
    ttl: session.ttl,
    gap: session.gap,
    ended: session.ended,
    prove: (signal) => session.prove(signal),
    touch: (signal) => session.touch(signal),
    contend: (election: string, card: Card, replaces) => new HastyContender(session.contend(election, card, inner(replaces)), view),
    leader: (election, signal) => session.leader(election, signal),
    queue: (election, signal) => session.queue(election, signal),
    elections: (signal) => session.elections(signal),
    survey: (election, signal) => session.survey(election, signal),
    evict: (election, standing, stead, signal) => session.evict(election, standing, stead, signal),
    changed: (election, seen, signal) => session.changed(election, seen, signal),
    close: (signal) => session.close(signal),
    abandon: () => session.abandon(),
  };
}

class HastyContender implements Contender {
  readonly inner: Contender;
  readonly #view: QueueView;
  #predecessorHasGone = false;

  constructor(inner: Contender, view: QueueView) {
    this.inner = inner;
    this.#view = view;
  }

  async look(signal: AbortSignal): Promise<Place> {
    const place = await this.inner.look(signal);
    if (place.kind !== "behind" || !this.#predecessorHasGone) return place;
    this.#predecessorHasGone = false;
    const version = (await this.#view.term())?.stat.version ?? 0;
    return { kind: "head", seen: place.seen, ignored: place.ignored, version, extra: {} } as HeadPlace;
  }

  async moved(place: Place, signal: AbortSignal): Promise<void> {
    await this.inner.moved(place, signal);
    this.#predecessorHasGone = true;
  }

  claim(place: HeadPlace, signal: AbortSignal): Promise<HeldPlace | Refused> {
    return this.inner.claim(place, signal);
  }

  unseated(signal: AbortSignal): Promise<void> {
    return this.inner.unseated(signal);
  }

  prepare(signal: AbortSignal): Promise<void> {
    return this.inner.prepare(signal);
  }

  withdraw(how: "hand-over" | "free", signal: AbortSignal): Promise<void> {
    return this.inner.withdraw(how, signal);
  }
}
