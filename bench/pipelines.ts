/**
 * npm run bench:pipelines: what a first call waits for on Dawn in Node: the pipeline of tilec's kernel, and
 * of one by hand.
 *
 * Milliseconds from the text to the pipeline, medians of 9 devices: a device keeps what it has made.
 */
import { createRunner } from "../backends/webgpu/index.js";
import { compile, onnx, program, targets } from "../src/index.js";
import { table } from "../src/report/table.js";
import { median } from "../src/tune/median.js";
import { workloadsOf } from "./arguments.js";
import { parseFlags, shared } from "./flags.js";
import { handWritten } from "./hand-written.js";
import { kernelOf } from "./kernels.js";
import { geometricMean } from "./statistics.js";
import { describe } from "./workloads.js";
import { openGpu } from "./open-gpu.js";

const { json, only } = parseFlags(
  "bench:pipelines",
  "milliseconds until Dawn has a pipeline, by tilec and by hand",
  {
    json: shared.json,
    only: shared.only,
  },
);
const chosen = workloadsOf(only);
const devices = 9;
const subjects = ["tilec", "hand-vec4"] as const;

interface Timed {
  readonly workload: string;
  readonly subject: (typeof subjects)[number];
  readonly milliseconds: number;
}

function timed(device: GPUDevice, code: string): number {
  const start = performance.now();
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
  return performance.now() - start;
}

/**
 * Measures the milliseconds to create a pipeline on a new device, for each workload, with tilec's kernel and
 * with the hand-written kernel. Rejects if no device is available.
 */
async function onNewDevice(): Promise<Timed[]> {
  const { device } = await openGpu();
  const runner = await createRunner(device);
  timed(device, "@compute @workgroup_size(1) fn main() {}");
  const rows = chosen.flatMap((workload) => {
    const codes = {
      tilec: runner.wgsl(kernelOf({ compile, onnx, program, targets }, workload, runner.target)).code,
      "hand-vec4": handWritten(workload)[0],
    };
    return subjects.map((subject) => ({
      workload: workload.name,
      subject,
      milliseconds: timed(device, codes[subject]),
    }));
  });
  device.destroy();
  return rows;
}

// What the process does once is not the first device's.
await onNewDevice();
const runs: Timed[] = [];
for (let k = 0; k < devices; k++) runs.push(...(await onNewDevice()));

const rows = chosen.map((workload) => {
  const of = (subject: Timed["subject"]): number =>
    median(
      runs.flatMap((run) =>
        run.workload === workload.name && run.subject === subject ? run.milliseconds : [],
      ),
    );
  return { workload, tilec: of("tilec"), "hand-vec4": of("hand-vec4") };
});
if (json) {
  const milliseconds = rows.map((row) => ({ ...row, workload: row.workload.name }));
  console.log(JSON.stringify({ schema: 1, milliseconds }, null, 2));
} else {
  const shown = (name: string, tilec: number, hand: number): string[] => [
    name,
    tilec.toFixed(1),
    hand.toFixed(1),
    (tilec / hand).toFixed(2),
  ];
  const mean = (subject: Timed["subject"]): number => geometricMean(rows.map((row) => row[subject]));
  console.log(
    table(
      ["ms until there is a pipeline", ...subjects, "ratio"],
      [
        ...rows.map((row) =>
          shown(`${row.workload.name}: ${describe(row.workload)}`, row.tilec, row["hand-vec4"]),
        ),
        shown("geometric mean", mean("tilec"), mean("hand-vec4")),
      ],
    ),
  );
}
