export type Row = readonly (string | number | null | undefined)[];

/** A title, how it was measured, and a table. */
export function section(title: string, how: string, heads: readonly string[], rows: readonly Row[]): string {
  const table = [heads, ...rows].map((row) => heads.map((_, column) => String(row[column] ?? "")));
  const widths = heads.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const isText = heads.map((_, column) => rows.some((row) => typeof row[column] === "string" && !/^[\d.]/.test(row[column] as string)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => (isText[column] ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return [title.toUpperCase(), how, ...lines].join("\n");
}

export function ms(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

export function list(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(" · ");
}

/** The sections of a report, as text for a terminal. */
export function pages(sections: readonly string[]): string {
  return `\n${sections.filter(Boolean).join("\n\n")}\n`;
}

/** How often each of them occurs, the most frequent first. */
export function tally(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}

/** The limits that were set for tenure, beside what a run has found. Only the first build is judged. */
export class Limits {
  readonly #rows: string[][] = [];

  /** Nothing was found where that part did not run. */
  judge(what: string, found: number | undefined, limit: number, text = ms): void {
    if (found !== undefined) this.#rows.push([what, text(found), text(limit), found <= limit ? "holds" : "MISSED"]);
  }

  print(): string {
    return this.#rows.length === 0 ? "" : section("Limits", "Of the first build, in this run.", ["what", "found", "limit", ""], this.#rows);
  }
}
