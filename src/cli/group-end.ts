import { type Clock, sleep } from "../clock.js";
import type { Logger } from "../logger.js";
import { groupGone, sessionMembers, signalGroup, sweepSession } from "./process-group.js";

const FIRST_PAUSE = 2;
const LONGEST_PAUSE = 100;
/** After this long without success it is worth a word, in ms. */
const WARN_AFTER = 3000;

/** Kills what is left of the group `id`, whose leader has been reaped, and resolves once nothing is left, however long that takes. */
export async function killGroup(id: number, clock: Clock, logger: Logger): Promise<void> {
  const begun = clock.mono();
  let warned = false;
  for (let pause = FIRST_PAUSE; !groupGone(id); pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    signalGroup(id, "SIGKILL");
    sweepSession(id);
    if (!warned && clock.mono() - begun > WARN_AFTER) {
      warned = true;
      logger.warn(
        { group: id, processes: sessionMembers(id) },
        "processes of the command do not die; the seat is kept until they are gone",
      );
    }
    await sleep(clock, pause, NEVER);
  }
}

/** Resolves once `leader` is the only one left in its session, or `signal` aborts. At once where members cannot be listed. */
export async function onlyLeaderLeft(leader: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let pause = FIRST_PAUSE; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    const members = sessionMembers(leader);
    if (members === null || members.every((pid) => pid === leader)) return;
    await sleep(clock, pause, signal).catch(() => {});
  }
}

const NEVER = new AbortController().signal;
