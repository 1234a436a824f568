/**
 * npm run bench:webgpu: tilec's kernels, by a runner and as modules, beside the libraries, a plain kernel,
 * one by hand and a copy, device-resident, in one run.
 *
 * Without `--node`, everything runs in one page of a headless Chromium on SwiftShader. bench/webgpu-gpu.json
 * keeps the rows of `--gpu`. Outputs are verified first; subjects run in turns; medians are compared within
 * the run. `--folds` prints the cycle model's figures too. `--against` leaves out all but tilec's kernels.
 */
import { writeFileSync } from "node:fs";
import { createRunner } from "../backends/webgpu/index.js";
import { type NodeGpu } from "../src/device/index.js";
import { packageFile } from "../src/device/package-files.js";
import { compile, onnx, program, targets } from "../src/index.js";
import { compareBuilds } from "./against.js";
import { folderOf, runsOf, workloadsOf } from "./arguments.js";
import { openBenchPage, pagePeers } from "./chromium.js";
import { fail, parseFlags, shared } from "./flags.js";
import { gpuSubjects, upload } from "./gpu-subjects.js";
import type { GpuLibrary } from "./library.js";
import { measureFolds } from "./folds.js";
import { forkSide } from "./fork-side.js";
import { openSidePage } from "./open-side-page.js";
import { requirePeers } from "./peers.js";
import { reportComparison } from "./print-comparison.js";
import { report } from "./print-rows.js";
import type { Comparison } from "./ratios.js";
import { measure, type Row } from "./rows.js";
import { rowsOfRuns } from "./runs.js";
import type { Side } from "./side.js";
import { describe, expectedOf, inputsOf } from "./workloads.js";
import { openGpu } from "./open-gpu.js";

const { json, node, gpu, folds, ...flags } = parseFlags(
  "bench:webgpu",
  "tilec's kernels beside the libraries, a plain kernel, one by hand and a copy",
  {
    json: shared.json,
    only: shared.only,
    runs: shared.runs,
    against: shared.against,
    node: { type: "boolean", default: false, help: "on Dawn in this process, without libraries and modules" },
    gpu: { type: "boolean", default: false, help: "in the Chrome of this machine, on its GPU" },
    folds: {
      type: "boolean",
      default: false,
      help: "kernels of a model under each policy of --fold, on Dawn",
    },
  },
);
const chosen = workloadsOf(flags.only);
const against = folderOf(flags.against);
const runs = runsOf(flags.runs, against);
if (runs > 1 && gpu && against === undefined) fail("--gpu keeps the rows of one run", "leave out --runs");
const rounds = 9;
/** Launches of each run: a GPU finishes one launch in less time than its submission takes. */
const launches = gpu ? 64 : 1;

const library: GpuLibrary = { compile, onnx, program, targets, createRunner };

/** Returns a device of Dawn in this process, which is named on stderr. */
async function openDawn(): Promise<NodeGpu> {
  const gpu = await openGpu();
  console.error(`${gpu.description}, Dawn in Node`);
  return gpu;
}

async function foldsOnDawn(): Promise<readonly Row[]> {
  const gpu = await openDawn();
  const rows = await measureFolds(gpu, 3 * rounds);
  gpu.device.destroy();
  return rows;
}

/**
 * Measures tilec's kernel, a kernel without tiles, a hand-written kernel and a copy of the output's bytes on
 * Dawn in Node. Resolves to one row of times for each implementation and selected workload.
 */
async function onDawn(): Promise<Row[]> {
  const { device } = await openDawn();
  const rows: Row[] = [];
  for (const workload of chosen) {
    console.error(`${workload.name}: ${describe(workload)}`);
    const inputs = inputsOf(workload);
    const expected = expectedOf(workload, inputs);
    const resident = upload(device, workload, inputs);
    const subjects = await gpuSubjects(library, device, workload, resident);
    rows.push(...(await measure(workload.name, subjects, expected, rounds)));
    resident.destroy();
  }
  device.destroy();
  return rows;
}

/**
 * Measures tilec, the kernels written for comparison, and the libraries on each selected workload in a
 * Chromium page. Resolves to one row of times for each implementation and workload. Rejects if `--gpu` finds
 * only an adapter implemented in software.
 */
async function inChromium(): Promise<Row[]> {
  requirePeers(pagePeers);
  const page = await openBenchPage(gpu);
  const rows: Row[] = [];
  try {
    const { adapter } = page;
    console.error(
      Object.values(adapter)
        .filter((value) => typeof value === "string" && value !== "")
        .join(", "),
    );
    if (gpu && adapter.software)
      throw new Error("--gpu: Chrome has no GPU here, only an adapter in software");
    for (const workload of chosen) {
      console.error(`${workload.name}: ${describe(workload)}`);
      rows.push(...(await page.run(workload, rounds, launches)));
    }
    if (gpu)
      writeFileSync("bench/webgpu-gpu.json", `${JSON.stringify({ schema: 1, adapter, rows }, null, 2)}\n`);
  } finally {
    for (const line of page.log) console.error(line);
    await page.close();
  }
  return rows;
}

const rows = (): Promise<Row[]> => (node ? onDawn() : inChromium());

const startSide = (folder: string): Promise<Side> =>
  node ? forkSide("webgpu", folder) : openSidePage(folder, launches, gpu);

/** Compares the kernels of this build with those of the build in a folder. Libraries are left out. */
const compared = (folder: string): Promise<readonly Comparison[]> =>
  compareBuilds(
    () => Promise.all([startSide(packageFile("./")), startSide(folder)]),
    chosen.map(({ name: workload }) => ({ workload, subject: "tilec", threads: 1 })),
    runs,
  );

if (folds) report(await foldsOnDawn(), json);
else if (against !== undefined) reportComparison(await compared(against), against, json);
else report(runs > 1 ? rowsOfRuns(runs) : await rows(), json);
