/**
 * node scripts/board-tests.js FILE: writes test/conformance/pypto-board-tests.json from PyPTO's own operator tests, read as
 * `{ "GatherElement": [{ id, op, inputs: [{ type, range }], outputs, view, tile, params }], … }`
 * (hicann/pypto framework/tests/st/operation/test_case at 883e7df, 2026-08-22).
 *
 * Kept are the gathers that PyPTO runs on boards, one a line, and the names of the writes, which tilec does not have yet.
 */
import { readFileSync, writeFileSync } from "node:fs";

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node scripts/board-tests.js FILE");
  process.exit(2);
}
const tests = Object.values(JSON.parse(readFileSync(file, "utf8"))).flat();
const reads = new Set(["pypto.gather", "pypto.index_select"]);
const gathers = tests
  .filter(({ op, onBoard }) => reads.has(op) && onBoard)
  .map(({ id, op, inputs: [data, indices], outputs: [output], view, tile, params: { axis } }) =>
    JSON.stringify({ id, op, data: data.type, indices: indices.type, output, axis, view, tile }),
  );
const notYet = tests.filter(({ op }) => !reads.has(op)).map(({ id }) => JSON.stringify(id));
const text = `{\n"gathers": [\n${gathers.join(",\n")}\n],\n"notYet": [\n${notYet.join(",\n")}\n]\n}\n`;
writeFileSync(new URL("../test/conformance/pypto-board-tests.json", import.meta.url), text);
console.log(`${gathers.length} gathers, ${notYet.length} writes not yet`);
