/**
 * npm run bench:sim: the fast executor beside the libraries and loops that do the same gathers, in one run.
 *
 * Outputs are verified first; then the subjects run in turns, and the medians are compared. What each subject includes is in
 * docs/simulator.md. Figures compare with each other, not between machines. `--json` prints the rows; `--only W4,W5`
 * runs some workloads, and no cold calls; `--runs 5` gives the median of five runs.
 */
import { rmSync } from "node:fs";
import { benchArguments } from "./arguments.js";
import { coldCalls, coldSizes } from "./cold.js";
import { findOnnxRuntime } from "./onnxruntime.js";
import { requirePeers } from "./peers.js";
import { report } from "./print-rows.js";
import { measure, type Row, type Subject } from "./rows.js";
import { rowsOfRuns } from "./runs.js";
import {
  compilePlainC,
  pythonWithTorch,
  inputFiles,
  jaxJs,
  limit,
  onnxRuntime,
  plainC,
  plainJs,
  tilec,
  tilecCall,
  torch,
} from "./subjects.js";
import { describe, expectedOf, inputsOf, workloads } from "./workloads.js";

const { json, chosen, runs } = benchArguments();
requirePeers(["onnxruntime-node", "@jax-js/jax"]);
const rounds = 21;

async function once(): Promise<Row[]> {
  const found = await findOnnxRuntime();
  if (!found.ok) console.error(`onnxruntime-node is left out: ${found.reason}`);
  const ort = found.ok ? found.ort : undefined;
  const compiled = compilePlainC();
  if (compiled === undefined) console.error("no C compiler on the path: the loops in C are left out");
  const python = pythonWithTorch();
  if (python === undefined)
    console.error("no python3 finds torch (Debian: python3-torch): torch is left out");

  const rows: Row[] = [];
  for (const workload of chosen) {
    console.error(`${workload.name}: ${describe(workload)}`);
    const inputs = inputsOf(workload);
    const expected = expectedOf(workload, inputs);
    const files = inputFiles(inputs);
    const subjects: Subject[] = [
      await tilec(workload, inputs, 1),
      await tilec(workload, inputs, 2),
      tilecCall(workload, inputs),
      ...(ort === undefined
        ? []
        : [
            await onnxRuntime(ort, workload, inputs, 1, false),
            await onnxRuntime(ort, workload, inputs, 2, false),
            await onnxRuntime(ort, workload, inputs, 1, true),
          ]),
      ...[await jaxJs(workload, inputs)].filter((s) => s !== undefined),
      plainJs(workload, inputs),
      ...(compiled === undefined ? [] : plainC(workload, compiled.binary, files)),
      ...(python === undefined ? [] : torch(workload, python, files)),
      limit(expected),
    ];
    rows.push(...(await measure(workload.name, subjects, expected, rounds)));
    for (const subject of subjects) await subject.close?.();
    files.remove();
  }
  if (compiled !== undefined) rmSync(compiled.folder, { recursive: true, force: true });

  if (chosen.length === workloads.length) {
    for (const [name, tall] of coldSizes) {
      console.error(`cold calls of ${name} elements`);
      const { subjects, expected } = coldCalls(tall, ort);
      rows.push(...(await measure(name, subjects, expected, rounds)));
    }
  }
  return rows;
}

report(runs > 1 ? rowsOfRuns(runs) : await once(), json);
