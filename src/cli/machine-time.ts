import { uptime } from "node:os";
import { systemClock } from "../clock.js";

/**
 * One reading, in ms, of the clocks that all processes of a machine share: what one process writes down, another can
 * compare with. `boot` is null where the uptime is too coarse to compare with (all but Linux).
 */
export interface MachineInstant {
  /** Since boot, without the time that the machine was suspended (CLOCK_MONOTONIC). */
  readonly mono: number;
  /** Since boot, with that time. */
  readonly boot: number | null;
  /** Since the Unix epoch. */
  readonly wall: number;
}

/** How long before its deadline a command is killed, in ms: time for the kill to take effect. */
export const KILL_MARGIN = 250;

/** Reads the clocks. */
export function machineNow(): MachineInstant {
  return {
    mono: Number(process.hrtime.bigint()) / 1e6,
    boot: process.platform === "linux" ? uptime() * 1000 : null,
    wall: systemClock.wall(),
  };
}

/** The instant `ms` after `from`. */
export function later(from: MachineInstant, ms: number): MachineInstant {
  return { mono: from.mono + ms, boot: from.boot === null ? null : from.boot + ms, wall: from.wall + ms };
}

/** Milliseconds from `now` until `deadline`: the least that any of the clocks says. Too little is allowed, too much is not. */
export function left(deadline: MachineInstant, now: MachineInstant): number {
  const boot = deadline.boot === null || now.boot === null ? Number.POSITIVE_INFINITY : deadline.boot - now.boot;
  return Math.min(deadline.mono - now.mono, deadline.wall - now.wall, boot);
}
