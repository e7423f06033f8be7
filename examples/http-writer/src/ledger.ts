import { readFile, rename, writeFile } from "node:fs/promises";

/** What the service keeps: one text, and the fence of the term that wrote it last. */
export interface Entry {
  readonly text: string;
  readonly fence: bigint;
}

/** A write of a term that is not the newest any more. */
export class OldFenceError extends Error {}

/**
 * A file that all processes share, standing for a database. There, look and write must be one step:
 * `UPDATE ledger SET text = $1, fence = $2 WHERE fence <= $2`.
 */
export class Ledger {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<Entry> {
    try {
      const { text, fence } = JSON.parse(await readFile(this.#path, "utf8")) as { text: string; fence: string };
      return { text, fence: BigInt(fence) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return { text: "", fence: 0n };
      throw error;
    }
  }

  /** Throws an {@link OldFenceError} when a newer term has written already. */
  async write(text: string, fence: bigint): Promise<void> {
    const last = await this.read();
    if (fence < last.fence) throw new OldFenceError(`fence ${fence} is older than ${last.fence}`);
    const temporary = `${this.#path}.${process.pid}`;
    await writeFile(temporary, JSON.stringify({ text, fence: String(fence) }));
    await rename(temporary, this.#path);
  }
}
