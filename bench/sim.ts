/**
 * npm run bench:sim: the fast executor beside the libraries and loops that do the same gathers, in one run.
 *
 * `tilec` is the kernel alone, on inputs that lie in the executor's memory; `tilec-call` is `simulate` from the caller's
 * arrays to a new array; `c-copy` copies as many bytes as the output has; `onnxruntime-node` is the whole call of a session on tensors made before, to a new array. Outputs
 * are verified first; then the subjects run in turns, and the medians are compared. Figures compare with each
 * other, not between machines. `--json` prints the rows; `--only W4,W5` runs some workloads.
 */
import { rmSync } from "node:fs";
import { benchArguments } from "./arguments.js";
import { report } from "./print-rows.js";
import { measure, type Row, type Subject } from "./rows.js";
import { compilePlainC, jaxJs, limit, onnxRuntime, plainC, plainJs, tilec, tilecCall } from "./subjects.js";
import { describe, expectedOf, inputsOf } from "./workloads.js";

const { json, chosen } = benchArguments();
const rounds = 21;
const compiled = compilePlainC();
if (compiled === undefined) console.error("no C compiler on the path: subject c is left out");

const rows: Row[] = [];
for (const workload of chosen) {
  console.error(`${workload.name}: ${describe(workload)}`);
  const inputs = inputsOf(workload);
  const expected = expectedOf(workload, inputs);
  const subjects: Subject[] = [
    await tilec(workload, inputs, 1),
    await tilec(workload, inputs, 2),
    tilecCall(workload, inputs),
    ...[
      await onnxRuntime(workload, inputs, 1, false),
      await onnxRuntime(workload, inputs, 2, false),
      await onnxRuntime(workload, inputs, 1, true),
    ].filter((s) => s !== undefined),
    ...[await jaxJs(workload, inputs)].filter((s) => s !== undefined),
    plainJs(workload, inputs),
    ...(compiled === undefined ? [] : plainC(workload, inputs, compiled)),
    limit(expected),
  ];
  rows.push(...(await measure(workload.name, subjects, expected, rounds)));
  for (const subject of subjects) await subject.close?.();
}
if (compiled !== undefined) rmSync(compiled.folder, { recursive: true, force: true });

report(rows, json);
