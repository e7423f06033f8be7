/** What tenure logs to; a pino instance fits. Silent by default. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const nothing = () => {};

export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
