import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../errors.js";
import type { Logger } from "../logger.js";
import type { MachineInstant } from "./machine-time.js";

/** What the status file says, besides the deadline. */
export interface Reign {
  readonly election: string;
  readonly candidate: string;
  readonly number: number;
  readonly token: string;
  readonly since: Date;
}

/** A deadline that moved by less, in ms, is the same one, read again. */
const SAME = 20;

function privateFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "tenure-"));
  } catch (error) {
    throw new ConfigError(
      "TMPDIR",
      `cannot make a folder for the status file (${(error as Error).message}): name one that can be written to`,
    );
  }
}

/** `TENURE_STATUS_FILE`: one JSON object, replaced by rename, in a folder that only this user can enter. */
export class StatusFile {
  readonly folder = privateFolder();
  readonly path = join(this.folder, "status.json");
  readonly #reign: Reign;
  readonly #logger: Logger;
  #written = Number.NEGATIVE_INFINITY;
  #wasDraining = false;
  #failed = false;

  /** Throws a ConfigError when its folder cannot be made. */
  constructor(reign: Reign, logger: Logger) {
    this.#reign = reign;
    this.#logger = logger;
  }

  /** Writes the file if there is something new. A disk that is full does not end the term. */
  update(deadline: MachineInstant, draining: boolean): void {
    if (Math.abs(deadline.mono - this.#written) < SAME && draining === this.#wasDraining) return;
    this.#written = deadline.mono;
    this.#wasDraining = draining;
    const { election, candidate, number, token, since } = this.#reign;
    const status = {
      election,
      candidate,
      number,
      fence: token,
      since: since.toISOString(),
      deadline: new Date(deadline.wall).toISOString(),
      deadlineBoot: deadline.boot === null ? null : Math.floor(deadline.boot) / 1000,
      draining,
      pid: process.pid,
    };
    try {
      writeFileSync(`${this.path}.new`, `${JSON.stringify(status)}\n`, { mode: 0o600 });
      renameSync(`${this.path}.new`, this.path);
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) this.#logger.warn({ err: error }, `cannot write the status file: ${(error as Error).message}`);
      this.#failed = true;
    }
  }

  /** Removes it with its folder. */
  remove(): void {
    try {
      rmSync(this.folder, { recursive: true, force: true });
    } catch (error) {
      this.#logger.warn({ err: error }, `cannot remove ${this.folder}: ${(error as Error).message}`);
    }
  }
}
