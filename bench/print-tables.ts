/**
 * npm run docs:tables: puts the tables of the documentation into its pages. Without `--write`, prints them.
 */
import { fail, parseFlags } from "./flags.js";
import { markdownTable } from "./markdown-table.js";
import { tableNames, tableOf, writeTable } from "./tables.js";

const { only, write } = parseFlags("docs:tables", "the tables of the documentation", {
  only: { type: "string", help: `these tables alone, separated by commas: ${tableNames.join(", ")}` },
  write: { type: "boolean", default: false, help: "put the tables into their pages, and print none" },
});
const chosen = only?.split(",");
const unknown = chosen?.find((name) => tableNames.every((known) => known !== name));
if (unknown !== undefined) fail(`there is no table ${unknown}`, `there are ${tableNames.join(", ")}`);
for (const name of tableNames) {
  const { page, make } = tableOf(name);
  if (chosen === undefined ? page === undefined : !chosen.includes(name)) continue;
  const text = markdownTable(await make());
  if (write) writeTable(name, text);
  else console.log(text);
}
