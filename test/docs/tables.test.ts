/** Tables of the documentation are what `npm run repro` makes; those that take minutes are held to by a part of their rows elsewhere. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { markdownTable } from "../../bench/markdown-table.js";
import { shownTable, tableNames, tableOf } from "../../bench/tables.js";
import { root } from "../support/root.js";

const shown = tableNames.flatMap((name) => {
  const { page, slow, make } = tableOf(name);
  return page === undefined
    ? []
    : [{ name, make, slow: slow === true, page: readFileSync(root + page, "utf8") }];
});
/** As the formatter of the repository leaves it or not: columns are no part of a table. */
const cellsOf = (table: string): string[][] =>
  table.split("\n").map((line) => line.split("|").map((cell) => cell.trim().replace(/^-+$/, "---")));

describe("the pages", () => {
  it.each(shown.filter(({ slow }) => !slow))("show $name as it is made", async ({ name, make, page }) => {
    expect(cellsOf(shownTable(page, name))).toEqual(cellsOf(markdownTable(await make())));
  });

  it.each(shown)("show $name once, with a head and rows", ({ name, page }) => {
    expect(page.split(`<!-- table:${name} -->`)).toHaveLength(2);
    expect(cellsOf(shownTable(page, name)).length).toBeGreaterThan(2);
  });
});
