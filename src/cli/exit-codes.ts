import { constants } from "node:os";

/** The exit codes of `tenure` that are not the command's own. Those from 64 on follow BSD's sysexits where they can. */
export const EXIT = {
  ok: 0,
  /** `status`: there is no leader. `evict`: there is no such candidate, or several. `demo`: something that it claims did not happen. */
  no: 1,
  /** `watch`: nobody was seen to lead for as long as `--alert-after` says. */
  alert: 2,
  usage: 64,
  unreachable: 69,
  internal: 70,
  termLost: 74,
  notElected: 75,
  refused: 77,
  unusable: 78,
  cannotExecute: 126,
  notFound: 127,
} as const;

/** For `--help`. */
export const EXIT_CODES_HELP = `Exit codes:
  the command's own, 128+n when it died of signal n; also when it was told to end
  1    status: nobody leads; evict: there is no such candidate, or several
  2    watch: nobody was seen to lead for as long as --alert-after says
  64   wrong options
  69   store unreachable (within --timeout; at the first try with --try)
  70   internal error
  74   the term was lost (with --exit-on-loss)
  75   not elected in time (--timeout), or not at once (--try); evict: evicted, and nobody leads within --timeout
  77   the store refuses the credentials, or one side the other's certificate
  78   the store holds something that is not tenure's, or cannot do what is needed
  126  the command cannot be executed
  127  the command was not found
  128+n  stopped by signal n while no command was running`;

/** What a shell makes of a process that died of `signal`. */
export function signalStatus(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
