import { readdirSync, readFileSync } from "node:fs";

/** What /proc tells of one process. */
export interface ProcessStat {
  readonly group: number;
  readonly session: number;
  /** The group in the foreground of its terminal; -1 without one. */
  readonly foreground: number;
  /** It runs nothing any more and only waits to be reaped. */
  readonly zombie: boolean;
}

/** Sends `signal` to every process of the group `id`. False when there is no such group. */
export function signalGroup(id: number, signal: NodeJS.Signals | 0): boolean {
  // kill(-1) reaches every process of the machine, kill(0) the caller's own group.
  if (!Number.isSafeInteger(id) || id <= 1) throw new RangeError(`${id} is not a process group`);
  return signalled(-id, signal);
}

/**
 * The live processes of the session that the process `leader` began: its group, and groups that its members made. Null
 * where that cannot be told (all but Linux). A zombie counts as gone: below a process 1 that does not reap, zombies stay.
 */
export function sessionMembers(leader: number): number[] | null {
  if (process.platform !== "linux") return null;
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return null;
  }
  const members: number[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid) || pid <= 1) continue;
    const stat = processStat(pid);
    if (stat && !stat.zombie && (stat.session === leader || stat.group === leader)) members.push(pid);
  }
  return members;
}

/** Kills whatever else runs in the session of `leader`; `leader` itself is spared. Returns whether nothing was found. */
export function sweepSession(leader: number): boolean {
  const others = sessionMembers(leader)?.filter((pid) => pid !== leader) ?? [];
  for (const pid of others) signalled(pid, "SIGKILL");
  return others.length === 0;
}

/** Whether nothing of the group `id`, whose leader has been reaped, is left (nor of its session, where that can be told). */
export function groupGone(id: number): boolean {
  const members = sessionMembers(id);
  return members === null ? !signalGroup(id, 0) : members.length === 0;
}

/** Null when there is no such process, or no /proc. */
export function processStat(pid: number | "self"): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
  // The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (index: number) => Number(fields[index]);
  // A main thread that ended before the others shows as a zombie too: then the number of threads is more than one.
  const zombie = (fields[0] === "Z" || fields[0] === "X") && field(17) <= 1;
  return { group: field(2), session: field(3), foreground: field(5), zombie };
}

function signalled(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EPERM: it is there, and it runs as somebody else.
    if (code === "ESRCH" || code === "EPERM") return code === "EPERM";
    throw error;
  }
}
