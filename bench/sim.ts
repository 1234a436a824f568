/**
 * npm run bench:sim: the fast executor beside the libraries and loops that do the same gathers, in one run.
 *
 * Outputs are verified first; then the subjects run in turns, and the medians are compared. What each subject includes is in
 * docs/simulator.md. Figures compare with each other, not between machines. `--json` prints the rows; `--only W4,W5`
 * runs some workloads, and no calls of gathers that are not known; `--runs 5` gives the median of five runs.
 */
import { rmSync } from "node:fs";
import { benchArguments } from "./arguments.js";
import { firstCalls, newCalls, unseenOutput } from "./cold.js";
import { findOnnxRuntime } from "./onnxruntime.js";
import { requirePeers } from "./peers.js";
import { report } from "./print-rows.js";
import { measure, type Row, type Subject } from "./rows.js";
import { rowsOfRuns } from "./runs.js";
import { libraries, unseenSizes } from "./unseen.js";
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
/** Each starts processes. */
const coldRounds = 7;

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
    const measured = libraries.filter((library) => library === "tilec" || ort !== undefined);
    for (const [size, tall] of unseenSizes) {
      const expected = unseenOutput(tall);
      console.error(`the first gather of a process, ${size} elements`);
      const first = measured.map((library) => firstCalls(library, tall));
      rows.push(...(await measure(`${size} cold`, first, expected, coldRounds)));
      console.error(`a new gather, ${size} elements`);
      const next = await Promise.all(measured.map((library) => newCalls(library, tall)));
      rows.push(...(await measure(`${size} new`, next, expected, rounds)));
    }
  }
  return rows;
}

report(runs > 1 ? rowsOfRuns(runs) : await once(), json);
