/** Rows as CSV or JSON Lines: how they are written, and read again to go on. */
import { stringify } from "csv-stringify/sync";
import { jsonSchema, outputFormats, type OutputFormat } from "../../output/mark.js";

/** Values of a row by column; one that is absent is empty. */
export type ListRow = Readonly<Partial<Record<string, string | number>>>;

/** A row as it stands in a file, and its values as texts. */
export interface WrittenRow {
  readonly line: string;
  readonly cells: Readonly<Partial<Record<string, string>>>;
}

/** Format of rows. */
export interface RowFormat {
  readonly output: OutputFormat;
  /** Line before the first row; empty for none. */
  readonly head: string;
  /** Returns a row as a line, with its end. */
  readonly line: (row: ListRow) => string;
  /** Returns the whole rows of a text that has the same columns; none of another text. */
  readonly read: (text: string) => readonly WrittenRow[];
}

/** Returns CSV with these columns. */
export function csvRows(columns: readonly string[]): RowFormat {
  // A spreadsheet runs a cell that begins with "=".
  const options = { columns: [...columns], escape_formulas: true };
  const head = stringify([], { ...options, header: true });
  return {
    output: outputFormats.rows,
    head,
    line: (row) => stringify([row], options),
    read: (text) =>
      text.startsWith(head)
        ? csvLines(text.slice(head.length)).map(({ line, cells }) => ({
            line,
            cells: Object.fromEntries(columns.map((key, k) => [key, cells[k] ?? ""])),
          }))
        : [],
  };
}

/** Returns the records of a CSV text that end in a line's end (RFC 4180); a torn one is left out. */
function csvLines(text: string): readonly { readonly line: string; readonly cells: readonly string[] }[] {
  const rows: { line: string; cells: string[] }[] = [];
  let cells: string[] = [];
  let start = 0;
  for (const { 0: match, 1: cell = "", 2: end, index } of text.matchAll(
    /((?:"(?:[^"]|"")*"|[^",\n])*)(,|\n|$)/g,
  )) {
    if (end === "") break;
    cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== "\n") continue;
    rows.push({ line: text.slice(start, index + match.length), cells });
    start = index + match.length;
    cells = [];
  }
  return rows;
}

/** Returns JSON Lines with these keys. */
export function jsonRows(columns: readonly string[]): RowFormat {
  return {
    output: outputFormats.json,
    head: "",
    line: (row) =>
      `${JSON.stringify({ schema: jsonSchema, ...Object.fromEntries(columns.map((key) => [key, row[key]])) })}\n`,
    read: (text) =>
      text.split("\n").flatMap((line) => {
        const cells = cellsOf(line);
        return cells === undefined ? [] : [{ line: `${line}\n`, cells }];
      }),
  };
}

function cellsOf(line: string): WrittenRow["cells"] | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    return Object.fromEntries(Object.entries(value).map(([key, cell]) => [key, String(cell)]));
  } catch {
    return undefined;
  }
}
