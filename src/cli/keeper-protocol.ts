import type { MachineInstant } from "./machine-time.js";

/** What the keeper is to start. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Give it /dev/null instead of our stdin. */
  readonly noInput: boolean;
  /** A private folder that the keeper removes when it ends by itself; null: none. */
  readonly folder: string | null;
}

/** A line from the wrapper to its keeper. The command is started on the first line that carries `run`. */
export interface ToKeeper {
  readonly deadline: MachineInstant;
  readonly run?: CommandLine;
}

/** A line from the keeper to its wrapper. */
export type FromKeeper =
  | { readonly kind: "started"; readonly pid: number }
  /** `status`: 126 or 127, as shells have it. */
  | { readonly kind: "failed"; readonly status: number; readonly message: string }
  /** The command's first process has ended; others of the group may live on. */
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  /** The keeper kills the group, and with it itself. */
  | { readonly kind: "killing"; readonly why: string };

/** The file descriptor of the pipe, in the keeper. */
export const KEEPER_FD = 3;

/** Calls `onLine` with each line that `stream` brings, parsed as JSON; half a line at the end is dropped. */
export function readLines(stream: NodeJS.ReadableStream, onLine: (line: unknown) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(JSON.parse(line));
  });
}
