import type { Candidacy } from "./candidacy.js";
import { TenureError } from "./errors.js";
import type { Reign } from "./reign.js";
import type { Term } from "./term.js";

/** The work of `lead`: run once a term, never before its previous run has settled. */
export type Work<T> = (term: Term) => T | PromiseLike<T>;

type Outcome<T> = { readonly kind: "returned"; readonly value: T } | { readonly kind: "threw"; readonly error: unknown };

/**
 * What the work brings about. What it returns or throws counts only if its term was neither draining nor over when it
 * settled; the value of the run that a stop interrupted counts, too.
 */
export class Lead<T> {
  readonly #work: Work<T>;
  readonly #candidacy: () => Candidacy;
  #own: Outcome<T> | null = null;
  #last: Outcome<T> | null = null;

  constructor(work: Work<T>, candidacy: () => Candidacy) {
    this.#work = work;
    this.#candidacy = candidacy;
  }

  /** Starts the work on a new term, unless that is to end already. */
  begin(term: Reign): void {
    if (!term.drained && term.valid) term.run(this.#run(term));
  }

  /** The outcome once the elector has stopped (`error`: why it stopped by itself). */
  settle(error: Error | null): T | undefined {
    if (this.#own?.kind === "threw") throw this.#own.error;
    if (this.#own?.kind === "returned") return this.#own.value;
    if (error) throw error;
    return this.#last?.kind === "returned" ? this.#last.value : undefined;
  }

  async #run(term: Reign): Promise<void> {
    let outcome: Outcome<T>;
    try {
      outcome = { kind: "returned", value: await this.#work(term) };
    } catch (error) {
      outcome = { kind: "threw", error };
    }
    if (term.drained || term.over || !term.valid) {
      if (this.#candidacy().stopping) this.#last = outcome;
      if (outcome.kind === "threw" && !isOurs(outcome.error)) this.#candidacy().warn(outcome.error, "the work failed while its term ended");
      return;
    }
    this.#own = outcome;
    this.#candidacy().stop("resigned");
  }
}

/** An error that only says that the term has ended: ours, or an abort. */
function isOurs(error: unknown): boolean {
  return error instanceof TenureError || (error as Error | null)?.name === "AbortError";
}
