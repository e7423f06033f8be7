/** What one run of a scenario came to. */
export interface Verdict {
  /** What did not hold, a sentence each; empty: all held. */
  readonly problems: readonly string[];
  /** What was measured; milliseconds, unless the name says otherwise. */
  readonly figures: Readonly<Record<string, number>>;
}

/** Collects what a scenario finds. */
export class Findings {
  readonly #problems: string[] = [];
  readonly #figures: Record<string, number> = {};

  /** Notes a problem unless `held`. */
  must(held: boolean, problem: string): void {
    if (!held) this.#problems.push(problem);
  }

  figure(name: string, value: number): void {
    this.#figures[name] = Math.round(value * 10) / 10;
  }

  verdict(): Verdict {
    return { problems: this.#problems, figures: this.#figures };
  }
}

/** Several verdicts on one run. */
export function together(verdicts: readonly Verdict[]): Verdict {
  return { problems: verdicts.flatMap(({ problems }) => problems), figures: Object.assign({}, ...verdicts.map(({ figures }) => figures)) };
}
