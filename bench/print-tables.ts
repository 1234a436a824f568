/**
 * npm run docs:tables: puts the tables of the documentation into its pages; those of the names given, or all.
 * Without `--write` they are printed.
 */
import { parseArgs } from "node:util";
import { markdownTable } from "./markdown-table.js";
import { tableNames, tableOf, writeTable } from "./tables.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean", default: false } },
});
const unknown = positionals.find((name) => tableNames.every((known) => known !== name));
if (unknown !== undefined) throw new Error(`there is no table ${unknown}: ${tableNames.join(", ")}`);
for (const name of tableNames) {
  const { page, make } = tableOf(name);
  if (positionals.length === 0 ? page === undefined : !positionals.includes(name)) continue;
  const text = markdownTable(await make());
  if (values.write) writeTable(name, text);
  else console.log(text);
}
