/** Tables of Markdown. */

/** Rows of a documentation table, each a list of cells; the first row is the header. */
export type Rows = readonly (readonly (string | number)[])[];

/**
 * Formats a table as Markdown. Columns are padded to equal widths, as the repository's formatter requires.
 */
export function markdownTable([head = [], ...rows]: Rows): string {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, k) => Math.max(3, ...cells.map((row) => row[k]?.length ?? 0)));
  const line = (row: readonly string[], fill: string): string =>
    `| ${row.map((cell, k) => cell.padEnd(widths[k] ?? 0, fill)).join(" | ")} |`;
  const [first = [], ...others] = cells.map((row) => line(row, " "));
  return [
    first,
    line(
      head.map(() => ""),
      "-",
    ),
    ...others,
  ].join("\n");
}
