/** What the signals to `tenure run` mean. */
export interface SignalHandlers {
  /** TERM or INT, for the `count`th time. */
  stop(signal: NodeJS.Signals, count: number): void;
  /** A signal for the command. */
  forward(signal: NodeJS.Signals): void;
}

const STOPPING: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];
const FORWARDED: readonly NodeJS.Signals[] = ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** Listens to signals; returns what ends that. */
export function onSignals(handlers: SignalHandlers): () => void {
  let count = 0;
  const stop = (signal: NodeJS.Signals) => handlers.stop(signal, ++count);
  const forward = (signal: NodeJS.Signals) => handlers.forward(signal);
  for (const signal of STOPPING) process.on(signal, stop);
  for (const signal of FORWARDED) process.on(signal, forward);
  return () => {
    for (const signal of STOPPING) process.off(signal, stop);
    for (const signal of FORWARDED) process.off(signal, forward);
  };
}
