/** Rows as CSV or JSON Lines: how they are written, and read again to go on. */
import { csvHead, csvLines, type CsvRow } from "../../report/csv.js";
import { jsonSchema, outputFormats, type OutputFormat } from "../../output/mark.js";

/** Row read from a row file (`--rows`): the text line, and the cells as text by column name. */
export interface WrittenRow {
  readonly line: string;
  readonly cells: Readonly<Partial<Record<string, string>>>;
}

/** File format of rows (CSV or JSON Lines), with functions that write one row and read the rows of a file. */
export interface RowFormat {
  readonly output: OutputFormat;
  /** Line before the first row; empty for none. */
  readonly head: string;
  /** Returns a row as one line of text, with the line break at the end. */
  readonly line: (row: CsvRow) => string;
  /**
   * Parses the text of a row file and returns the complete rows. Returns undefined if the rows are of another
   * command or have other columns.
   */
  readonly read: (text: string) => readonly WrittenRow[] | undefined;
}

/**
 * Returns the CSV format for the rows of a command. The function `read` of the format parses a row file, and
 * returns undefined if the file has another header or a row of another command.
 */
export function csvRows(command: string, columns: readonly string[]): RowFormat {
  const head = csvHead(columns);
  return {
    output: outputFormats.rows,
    head,
    line: (row) => csvLines(columns, [row]),
    read(text) {
      // A header that was torn has no row behind it.
      if (!text.startsWith(head)) return head.startsWith(text) ? [] : undefined;
      const rows = csvRecords(text.slice(head.length)).map(({ line, cells }) => ({
        line,
        cells: Object.fromEntries(columns.map((key, k) => [key, cells[k] ?? ""])),
      }));
      return rows.every(({ cells }) => cells["command"] === command) ? rows : undefined;
    },
  };
}

/**
 * Parses a CSV text (RFC 4180) and returns the complete rows. Blank lines and a last row without a line end
 * are left out.
 */
function csvRecords(text: string): readonly { readonly line: string; readonly cells: readonly string[] }[] {
  const rows: { line: string; cells: string[] }[] = [];
  let cells: string[] = [];
  let start = 0;
  for (const { 0: match, 1: cell = "", 2: end, index } of text.matchAll(
    /((?:"(?:[^"]|"")*"|[^",\n])*)(,|\n|$)/g,
  )) {
    if (end === "") break;
    cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== "\n") continue;
    const isBlank = cells.length === 1 && cells[0] === "";
    if (!isBlank) rows.push({ line: text.slice(start, index + match.length), cells });
    start = index + match.length;
    cells = [];
  }
  return rows;
}

/**
 * Returns the JSON Lines format for the rows of a command. Each line is an object with the keys `schema` and
 * the column names.
 */
export function jsonRows(command: string, columns: readonly string[]): RowFormat {
  const keys = new Set(["schema", ...columns]);
  const isOfCommand = (cells: WrittenRow["cells"]): boolean =>
    cells["command"] === command && Object.keys(cells).every((key) => keys.has(key));
  return {
    output: outputFormats.json,
    head: "",
    line: (row) =>
      `${JSON.stringify({ schema: jsonSchema, ...Object.fromEntries(columns.map((key) => [key, row[key]])) })}\n`,
    read(text) {
      const rows = text.split("\n").flatMap((line) => {
        const cells = cellsOf(line);
        return cells === undefined ? [] : [{ line: `${line}\n`, cells }];
      });
      return rows.every(({ cells }) => isOfCommand(cells)) ? rows : undefined;
    },
  };
}

/**
 * Parses a line as a JSON object and returns the values as text, by key. Returns undefined if the line is not
 * a JSON object.
 */
function cellsOf(line: string): WrittenRow["cells"] | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    return Object.fromEntries(Object.entries(value).map(([key, cell]) => [key, String(cell)]));
  } catch {
    return undefined;
  }
}
