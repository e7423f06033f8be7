import { StoreError } from "./errors.js";
import type { Place } from "./store.js";

/**
 * What lies where tenure keeps its data and is not tenure's own. Found at the first look of all it is a refusal: the
 * root or the name is probably wrong. Found later it is ignored, with one warning a sentence.
 */
export class ForeignData {
  #known: Set<string> | null = null;
  readonly #warn: (error: StoreError) => void;
  #first = true;

  constructor(warn: (error: StoreError) => void) {
    this.#warn = warn;
  }

  heed(place: Place): void {
    const first = this.#first;
    this.#first = false;
    for (const sentence of place.ignored) {
      if (first) throw new StoreError("foreign-data", sentence);
      this.#known ??= new Set();
      if (this.#known.has(sentence)) continue;
      this.#known.add(sentence);
      this.#warn(new StoreError("foreign-data", sentence));
    }
  }
}
