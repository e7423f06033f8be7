/** What tenure logs to; a pino instance fits. Silent by default. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const nothing = () => {};

export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** `logger`, unable to disturb: what it throws is dropped. */
export function harmless(logger: Logger): Logger {
  const wrap = (level: keyof Logger) => (fields: object, message: string) => {
    try {
      logger[level](fields, message);
    } catch {
      // There is nowhere left to report it.
    }
  };
  return { debug: wrap("debug"), info: wrap("info"), warn: wrap("warn"), error: wrap("error") };
}
