/** Comma-separated values, as every command writes them. */
import { stringify } from "csv-stringify/sync";

/** A cell that begins with "=" is a formula to a spreadsheet, and is written with "'" before it. */
const options = { escape_formulas: true };

/** Row of a CSV table: values by column name. An absent value is an empty cell. */
export type CsvRow = Readonly<Partial<Record<string, string | number>>>;

/** Returns the header line of a CSV table, including the line end. */
export const csvHead = (columns: readonly string[]): string =>
  stringify([], { ...options, columns: [...columns], header: true });

/** Returns the rows of a CSV table as text, one line for each row, including line ends. */
export const csvLines = (columns: readonly string[], rows: readonly CsvRow[]): string =>
  stringify([...rows], { ...options, columns: [...columns] });

/** Returns a complete CSV table as text: the header line and a line for each row. */
export const csvTable = (columns: readonly string[], rows: readonly CsvRow[]): string =>
  csvHead(columns) + csvLines(columns, rows);
