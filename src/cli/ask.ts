import { createInterface } from "node:readline/promises";

/** Asks a question that is answered with yes or no; null: there is nobody to ask. */
export type Ask = (question: string) => Promise<boolean | null>;

/** Asks whoever sits at the terminal. No answer is no. */
export function asker(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Ask {
  return async (question) => {
    if (!input.isTTY || !output.isTTY) return null;
    const reader = createInterface({ input, output });
    const ended = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
    try {
      const answer = await Promise.race([reader.question(`${question} [y/N] `), ended]);
      return /^y(es)?$/i.test(answer.trim());
    } finally {
      reader.close();
    }
  };
}
