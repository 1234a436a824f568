/**
 * Tables of the documentation: each is made here alone, for `npm run repro` and for its page, where it stands
 * between two marks.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { packageFile } from "../src/device/package-files.js";
import { familyTable } from "./families-table.js";
import { fiveProgramsTable } from "./five-programs.js";
import type { Rows } from "./markdown-table.js";
import { copiesTable, loadsTable, rowGatherTable, stepsTable } from "./published.js";
import { shapesTable, shapesTimesTable } from "./shapes.js";
import { tuneTable, tuneTimesTable } from "./tune.js";

/** Table of the documentation: the function that computes the table, and the page that shows the table. */
export interface DocumentedTable {
  readonly make: () => Rows | Promise<Rows>;
  /** Page that shows the table; absent if no page does. */
  readonly page?: string;
  /** True if the table has times of this machine; other tables are the same on every machine. */
  readonly measured?: true;
  /** True if the table takes minutes to compute. */
  readonly slow?: true;
}

const costModel = "docs/cost-model.md";
const tuning = "docs/tuning.md";

/**
 * Tables of the documentation by name. The name is also the name of the file in `repro/` and of the marker
 * comments in the page.
 */
export const tables = {
  loads: { page: costModel, make: loadsTable },
  copies: { page: costModel, make: copiesTable },
  steps: { page: costModel, make: stepsTable },
  "row-gather": { page: costModel, make: rowGatherTable },
  shapes: { page: costModel, slow: true, make: shapesTable },
  tune: { page: tuning, slow: true, make: tuneTable },
  "five-programs": { page: tuning, make: fiveProgramsTable },
  families: { page: tuning, make: familyTable },
  "shapes-times": { measured: true, make: shapesTimesTable },
  "tune-times": { measured: true, make: tuneTimesTable },
} as const satisfies Readonly<Record<string, DocumentedTable>>;

/** Name of a documentation table; see {@link tables}. */
export type TableName = keyof typeof tables;
/** Names of all documentation tables, in the order of {@link tables}. */
export const tableNames = Object.keys(tables) as readonly TableName[];
/** Returns the documentation table with the given name. */
export const tableOf = (name: TableName): DocumentedTable => tables[name];

/** Returns the marks around a table of a page. */
const marks = (name: TableName): readonly [string, string] => [
  `<!-- table:${name} -->`,
  `<!-- /table:${name} -->`,
];

/**
 * Returns the text between the marker comments of a table in a page, without surrounding white space. Throws
 * an Error if the page has no opening marker for the table.
 */
export function shownTable(page: string, name: TableName): string {
  const [begin, end] = marks(name);
  const shown = page.split(begin)[1]?.split(end)[0];
  if (shown === undefined) throw new Error(`the page has no ${begin}`);
  return shown.trim();
}

/**
 * Replaces the text of a table between the marker comments in the documentation page. Does nothing if no page
 * shows the table. Throws an Error if the page has no opening marker.
 */
export function writeTable(name: TableName, text: string): void {
  const { page: file } = tableOf(name);
  if (file === undefined) return;
  const page = readFileSync(packageFile(file), "utf8");
  const [begin, end] = marks(name);
  const [before = "", rest = ""] = page.split(begin);
  shownTable(page, name);
  writeFileSync(packageFile(file), `${before}${begin}\n\n${text}\n\n${end}${rest.split(end)[1] ?? ""}`);
}
