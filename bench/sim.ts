/**
 * npm run bench:sim: the fast executor beside the libraries and loops that do the same gathers, in one run.
 *
 * Outputs are verified first; then the subjects run in turns, and the medians are compared. Figures compare with each
 * other, not between machines. `--json` prints the rows; `--only W4,W5` runs some workloads.
 */
import { rmSync } from "node:fs";
import { printRows } from "./print-rows.js";
import { measure, type Row, type Subject } from "./rows.js";
import { compilePlainC, jaxJs, limit, onnxRuntime, plainC, plainJs, tilec } from "./subjects.js";
import { bytesOf, count, describe, inputsOf, plainGather, workloads } from "./workloads.js";

const json = process.argv.includes("--json");
const only = process.argv[process.argv.indexOf("--only") + 1]?.split(",");
const chosen = process.argv.includes("--only") ? workloads.filter((w) => only?.includes(w.name)) : workloads;
const rounds = 21;
const compiled = compilePlainC();
if (compiled === undefined) console.error("no C compiler on the path: subject c is left out");

const rows: Row[] = [];
for (const workload of chosen) {
  console.error(`${workload.name}: ${describe(workload)}`);
  const inputs = inputsOf(workload);
  const expected = new Uint8Array(count(workload.output) * bytesOf[workload.dtype]);
  plainGather(workload, inputs, expected);
  const subjects: Subject[] = [
    await tilec(workload, inputs, 1),
    await tilec(workload, inputs, 2),
    ...[
      await onnxRuntime(workload, inputs, 1, false),
      await onnxRuntime(workload, inputs, 2, false),
      await onnxRuntime(workload, inputs, 1, true),
    ].filter((s) => s !== undefined),
    ...[await jaxJs(workload, inputs)].filter((s) => s !== undefined),
    plainJs(workload, inputs),
    ...(compiled === undefined ? [] : [plainC(workload, inputs, compiled)]),
    limit(expected),
  ];
  rows.push(...(await measure(workload.name, subjects, expected, rounds)));
  for (const subject of subjects) await subject.close?.();
}
if (compiled !== undefined) rmSync(compiled.folder, { recursive: true, force: true });

if (json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
else printRows(rows, "tilec");
process.exitCode = rows.every((row) => row.verified) ? 0 : 1;
