/** Comma-separated values, as every command writes them. */
import { stringify } from "csv-stringify/sync";

/** A cell that begins with "=" is a formula to a spreadsheet, and is written with "'" before it. */
const options = { escape_formulas: true };

/** Values of a row by column; one that is absent is empty. */
export type CsvRow = Readonly<Partial<Record<string, string | number>>>;

/** Returns the header as a line with its end. */
export const csvHead = (columns: readonly string[]): string =>
  stringify([], { ...options, columns: [...columns], header: true });

/** Returns rows as lines with their ends. */
export const csvLines = (columns: readonly string[], rows: readonly CsvRow[]): string =>
  stringify([...rows], { ...options, columns: [...columns] });

/** Returns a table with its header. */
export const csvTable = (columns: readonly string[], rows: readonly CsvRow[]): string =>
  csvHead(columns) + csvLines(columns, rows);
