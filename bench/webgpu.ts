/**
 * npm run bench:webgpu: tilec's kernels beside the libraries, a plain kernel and the copy, device-resident, in one run.
 *
 * `--node` runs on Dawn in this process (tilec, plain, limit); without it, everything runs in one page of a headless
 * Chromium. Outputs are verified first; subjects run in turns; medians are compared within the run. `--json` prints the
 * rows; `--only W4,W5` runs some workloads.
 */
import { acquireGpu } from "../src/device/index.js";
import { gpuSubjects, upload } from "./gpu-subjects.js";
import { measure, printRows, type Row } from "./rows.js";
import { bytesOf, count, describe, inputsOf, plainGather, workloads } from "./workloads.js";

const json = process.argv.includes("--json");
const only = process.argv[process.argv.indexOf("--only") + 1]?.split(",");
const chosen = process.argv.includes("--only") ? workloads.filter((w) => only?.includes(w.name)) : workloads;
const rounds = 9;

async function onDawn(): Promise<Row[]> {
  const found = await acquireGpu();
  if (!found.ok) throw new Error(found.reason);
  const { device, description } = found.gpu;
  console.error(`${description}, Dawn in Node`);
  const rows: Row[] = [];
  for (const workload of chosen) {
    console.error(`${workload.name}: ${describe(workload)}`);
    const inputs = inputsOf(workload);
    const expected = new Uint8Array(count(workload.output) * bytesOf[workload.dtype]);
    plainGather(workload, inputs, expected);
    const resident = upload(device, workload, inputs);
    const subjects = await gpuSubjects(device, workload, resident);
    rows.push(...(await measure(workload.name, subjects, expected, rounds)));
    for (const subject of subjects) await subject.close?.();
    resident.destroy();
  }
  device.destroy();
  return rows;
}

const rows = await onDawn();
if (json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
else printRows(rows, "tilec");
process.exitCode = rows.every((row) => row.verified) ? 0 : 1;
