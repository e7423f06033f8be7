import { isatty } from "node:tty";
import { type LevelWithSilent, pino } from "pino";
import type { Logger } from "../logger.js";

export const LOG_LEVELS: readonly LevelWithSilent[] = ["debug", "info", "warn", "error", "silent"];

/** By number: `process.stderr` would make a pipe that the command shares non-blocking. */
const STDERR = 2;

export interface LogOptions {
  readonly level: string;
  readonly redact: (text: string) => string;
}

/**
 * Logs to stderr: for people when that is a terminal, else one JSON object a line. Written at once, so that no line is
 * lost when the process is killed. Errors are shown without their stacks.
 */
export async function makeLogger({ level, redact }: LogOptions): Promise<Logger> {
  const stderr = pino.destination({ fd: STDERR, sync: true });
  // A reader of the log that has gone is no reason to give up a term.
  stderr.on("error", () => {});
  const render = isatty(STDERR) ? await forPeople() : (line: string) => line;
  const logger: Logger = pino(
    {
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: withoutStack },
    },
    { write: (line: string) => void stderr.write(redact(render(line))) },
  );
  return logger;
}

async function forPeople(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    colorize: useColour(STDERR),
    translateTime: "SYS:HH:MM:ss.l",
    // The message says it all.
    hideObject: true,
    ignore: "pid,hostname",
  });
}

/** Whether to colour what is written to the file descriptor `fd`. https://no-color.org */
export function useColour(fd: number): boolean {
  return isatty(fd) && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}

function withoutStack(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  return { type: error.name, message: error.message, ...(code !== undefined && { code }) };
}
