import type { Ender } from "../../src/clock.js";
import type { Operation } from "./client/consul-wire.js";
import { mailbox } from "./consul-paths.js";
import { type Letter, writeLetter } from "./consul-record.js";
import { asStoreError, isRefused } from "./consul-requests.js";
import type { Surroundings } from "./consul-surroundings.js";

/** Means only: look. */
export const LOOK: Letter = { entry: null, number: 0 };

/** Puts a letter about an election into the mailbox of a session; with the lock of that session, so that it goes with it. */
export function letterOperation(prefix: string, to: string, election: string, letter: Letter): Operation {
  return { verb: "lock", key: `${mailbox(prefix, to)}${election}`, value: writeLetter(letter), session: to };
}

/** Tells `sessions` to look. One that has ended needs no letter: who waits behind it watches its key. */
export async function tell(
  { requests, prefix, paths }: Pick<Surroundings, "requests" | "prefix" | "paths">,
  sessions: Iterable<string>,
  signal: Ender,
): Promise<void> {
  const writing = [...new Set(sessions)].map(async (session) => {
    try {
      await requests.write([letterOperation(prefix, session, paths.election, LOOK)], signal);
    } catch (error) {
      if (!isRefused(error, "session")) throw asStoreError(error);
    }
  });
  // All of them are sent, whatever becomes of one.
  const failed = (await Promise.allSettled(writing)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}
