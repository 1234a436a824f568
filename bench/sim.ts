/**
 * npm run bench:sim: the fast executor beside the libraries and loops that do the same gathers, in one run.
 *
 * Outputs are verified first; then the subjects run in turns, and the medians are compared. What each subject
 * includes is in docs/simulator.md. Figures compare with each other, not between machines. `--only` leaves
 * out calls of gathers that are not known; `--only calls` selects the seven of which whole calls are
 * measured.
 * `--against` leaves out the libraries.
 */
import { FastExecutor, simulate } from "../backends/sim/index.js";
import { spawnThread } from "../src/device/index.js";
import { packageFile } from "../src/device/package-files.js";
import { compile, onnx, program, targets } from "../src/index.js";
import { compareBuilds } from "./against.js";
import { folderOf, runsOf, workloadsOf } from "./arguments.js";
import { firstCalls, newCalls, unseenOutput } from "./cold.js";
import { parseFlags, shared } from "./flags.js";
import type { SimLibrary } from "./library.js";
import { forkSide } from "./fork-side.js";
import { findOnnxRuntime } from "./onnxruntime.js";
import { kernelOf } from "./kernels.js";
import { compileC, inputFiles } from "./loop-process.js";
import { tilec, tilecCall } from "./own-subjects.js";
import { requirePeers } from "./peers.js";
import { reportComparison } from "./print-comparison.js";
import { report } from "./print-rows.js";
import type { Comparison } from "./ratios.js";
import { measure, type Row, type Subject } from "./rows.js";
import { rowsOfRuns } from "./runs.js";
import { libraries, unseenSizes } from "./unseen.js";
import {
  pythonWithTorch,
  jaxJs,
  limit,
  onnxRuntime,
  plainC,
  plainJs,
  plainJsCall,
  torch,
} from "./subjects.js";
import { calls, describe, expectedOf, inputsOf, workloads } from "./workloads.js";

const everyRow = [...workloads, ...calls];
const { json, ...flags } = parseFlags(
  "bench:sim",
  "the fast executor beside the libraries and loops that do the same gathers",
  { json: shared.json, only: shared.only, runs: shared.runs, against: shared.against },
);
const chosen = workloadsOf(flags.only, everyRow);
const against = folderOf(flags.against);
const runs = runsOf(flags.runs, against);
const rounds = 21;
/**
 * V8 compiles a loop of a call anew after some hundred calls, and the kernel makes large pages of a new
 * table's small ones.
 */
const warmUpMs = 300;
/** Each starts processes. */
const coldRounds = 7;

const own: SimLibrary = {
  compile,
  onnx,
  program,
  targets,
  FastExecutor,
  simulate,
  spawnThread,
};

/**
 * Runs bench:sim once and resolves to a row for each workload and implementation. Implementations that cannot
 * be loaded are left out. Ends the process with an error if a required npm package is not installed.
 */
async function once(): Promise<Row[]> {
  requirePeers(["onnxruntime-node", "@jax-js/jax"]);
  const found = await findOnnxRuntime();
  if (!found.ok) console.error(`onnxruntime-node is left out: ${found.reason}`);
  const ort = found.ok ? found.ort : undefined;
  const compiled = compileC("plain.c");
  const python = pythonWithTorch();
  if (python === undefined)
    console.error("no python3 finds torch (Debian: python3-torch): torch is left out");

  const rows: Row[] = [];
  for (const workload of chosen) {
    console.error(`${workload.name}: ${describe(workload)}`);
    const inputs = inputsOf(workload);
    const expected = expectedOf(workload, inputs);
    const files = inputFiles([inputs.data, inputs.indices]);
    // Of a call, what makes one: a memory that holds the data already is another question.
    const isCall = calls.includes(workload);
    const kernel = kernelOf(own, workload, own.targets.cpu);
    const given = { ...inputs };
    const subjects: Subject[] = [
      ...(isCall ? [] : [await tilec(own, kernel, given, 1), await tilec(own, kernel, given, 2)]),
      tilecCall(own, kernel, given),
      plainJsCall(workload, inputs),
      ...(ort === undefined
        ? []
        : [
            await onnxRuntime(ort, workload, inputs, 1, false),
            await onnxRuntime(ort, workload, inputs, 2, false),
            await onnxRuntime(ort, workload, inputs, 1, true),
          ]),
      ...(isCall ? [] : [await jaxJs(workload, inputs)].filter((s) => s !== undefined)),
      plainJs(workload, inputs),
      ...(compiled === undefined
        ? []
        : plainC(workload, compiled.binary, files).filter(({ subject }) => !isCall || subject === "c")),
      ...(python === undefined || isCall ? [] : torch(workload, python, files)),
      limit(expected),
    ];
    rows.push(...(await measure(workload.name, subjects, expected, rounds, warmUpMs)));
    files.remove();
  }
  compiled?.remove();

  if (chosen.length === everyRow.length) {
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

/** Compares the subjects of this build with those of the build in a folder. Libraries are left out. */
const compared = (folder: string): Promise<readonly Comparison[]> =>
  compareBuilds(
    () => Promise.all([forkSide("sim", packageFile("./")), forkSide("sim", folder)]),
    chosen.flatMap(({ name: workload }) => [
      ...(calls.some(({ name }) => name === workload)
        ? []
        : [
            { workload, subject: "tilec", threads: 1 },
            { workload, subject: "tilec", threads: 2 },
          ]),
      { workload, subject: "tilec-call", threads: 1 },
    ]),
    runs,
  );

if (against !== undefined) reportComparison(await compared(against), against, json);
else report(runs > 1 ? rowsOfRuns(runs) : await once(), json);
