/**
 * Draws docstrings with their declarations, for somebody to read who has not seen the code: five from each folder, over all
 * exports and all functions longer than five lines. `node scripts/sample-texts.js --seed 7` prints them as Markdown.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";

const folders = ["ir", "passes", "backends", "src/api", "src/cli", "src", "playground/src", "bench"];
const perFolder = 5;
const shortest = 5;

const { values } = parseArgs({ options: { seed: { type: "string", default: "1" } } });
let state = Number(values.seed) >>> 0;
if (!/^\d+$/.test(values.seed)) throw new Error(`--seed ${values.seed} is no whole number`);

/** Returns a number in [0, count), by mulberry32. */
function draw(count) {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
}

/** The files of a folder that belong to no longer folder of the list. */
const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file).replaceAll("\\", "/"))
    .filter((file) => /\.tsx?$/.test(file) && !/node_modules|\.d\.ts$|dist\//.test(file))
    .filter((file) =>
      folders.every((other) => other.length <= folder.length || !file.startsWith(`${other}/`)),
    )
    .sort();

const linesOf = (source, node) =>
  source.getLineAndCharacterOfPosition(node.end).line -
  source.getLineAndCharacterOfPosition(node.getStart(source)).line;

/** Returns each export and each function longer than five lines, with its docstring and its first lines. */
function declarationsIn(file) {
  const text = readFileSync(file, "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return source.statements.flatMap((node) => {
    const isExport =
      ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    const isFunction = ts.isFunctionDeclaration(node) && linesOf(source, node) > shortest;
    if (!(isExport || isFunction) || ts.isExportDeclaration(node)) return [];
    const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const head = node.getText(source).split("\n").slice(0, 4).join("\n");
    return [{ file, line, docs: docs.map((doc) => doc.getText(source)).join("\n"), head }];
  });
}

let count = 0;
for (const folder of folders) {
  const rest = filesOf(folder).flatMap(declarationsIn);
  for (let k = 0; k < perFolder && rest.length > 0; k++) {
    const [{ file, line, docs, head }] = rest.splice(draw(rest.length), 1);
    count++;
    console.log(
      `## ${count}. ${file}:${line}\n\n\`\`\`ts\n${docs === "" ? "(no docstring)" : docs}\n${head}\n\`\`\`\n`,
    );
  }
}
