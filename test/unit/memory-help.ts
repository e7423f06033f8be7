import { setMaxListeners } from "node:events";
import type { MemoryOptions, MemoryStore } from "../../adapters/memory/index.js";
import { memory } from "../../adapters/memory/index.js";
import type { Contender, HeldPlace, Session, Store } from "../../src/store.js";
import { ManualClock } from "../../src/testing.js";

/** Many waits share it, so Node is told not to count them. */
export const never: AbortSignal = new AbortController().signal;
setMaxListeners(0, never);

/** A memory store on a clock by hand. */
export function setUp(options: Omit<MemoryOptions, "clock"> = {}): { clock: ManualClock; server: MemoryStore } {
  const clock = new ManualClock();
  return { clock, server: memory({ ...options, clock }) };
}

/** Opens a session and makes one candidacy, which has sent nothing. */
export async function contend(store: Store, clock: ManualClock, id: string): Promise<{ session: Session; contender: Contender }> {
  const session = await store.open({ clock }, never);
  return { session, contender: session.contend("e", { id, metadata: {} }, null) };
}

/** Takes the free seat. */
export async function claim(contender: Contender): Promise<HeldPlace> {
  const place = await contender.look(never);
  if (place.kind !== "head") throw new Error(`not head but ${place.kind}`);
  const held = await contender.claim(place, never);
  if (held.kind !== "held") throw new Error("refused");
  return held;
}

/** Whether a promise has settled, after all promise chains have. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const mark = () => {
    done = true;
  };
  promise.then(mark, mark);
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}
