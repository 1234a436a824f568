/**
 * Code of the page of bench:webgpu, bench:values and bench:scatter: every subject on one adapter,
 * device-resident.
 */
import { createRunner } from "../backends/webgpu/index.js";
import { isSoftwareAdapter } from "../backends/webgpu/software.js";
import { compile, onnx, program, targets } from "../src/index.js";
import { gpuSubjects, upload } from "./gpu-subjects.js";
import type { GpuLibrary } from "./library.js";
import { moduleOnGpu } from "./module-subject.js";
import { pageDevice } from "./page-device.js";
import { scatterRows, type ScatterRows } from "./page-scatters.js";
import { valueRows } from "./page-values.js";
import { embedding } from "./value-workloads.js";
import { jaxWebGpu, onnxRuntimeWeb, tensorFlow } from "./web-subjects.js";
import { measure, type Row, type Subject } from "./rows.js";
import { scatters } from "./scatters.js";
import { expectedOf, inputsOf, workloadOf } from "./workloads.js";
import { messageOf } from "../ir/faults.js";

const library: GpuLibrary = { compile, onnx, program, targets, createRunner };

const device = pageDevice();

/** Returns the description that the adapter gives of itself. */
async function adapter(): Promise<Readonly<Record<string, string | boolean>>> {
  const { adapterInfo } = await device;
  const { vendor, architecture, device: model, description } = adapterInfo;
  return { vendor, architecture, device: model, description, software: isSoftwareAdapter(adapterInfo) };
}

/**
 * Measures tilec, the kernels written for comparison, and the libraries on the workload `name` in the page.
 * Resolves to one row of times for each implementation. A library that fails is left out.
 */
async function run(name: string, rounds: number, launches: number): Promise<readonly Row[]> {
  const workload = workloadOf(name);
  const inputs = inputsOf(workload);
  const expected = expectedOf(workload, inputs);
  const resident = upload(await device, workload, inputs);
  const subjects: Subject[] = [
    ...(await gpuSubjects(library, await device, workload, resident, launches)),
    await moduleOnGpu(library, await device, workload, resident, launches),
  ];
  for (const make of [onnxRuntimeWeb, jaxWebGpu, tensorFlow]) {
    try {
      const subject = await make(workload, inputs, launches);
      if (subject !== undefined) {
        await subject.run();
        subjects.push(subject);
      }
    } catch (thrown) {
      console.log(`${name}: ${make.name} left out: ${messageOf(thrown)}`);
    }
  }
  const rows = await measure(workload.name, subjects, expected, rounds);
  resident.destroy();
  return rows;
}

/**
 * Returns the rows of the embedding workload. Its scales are f32, because onnxruntime-web needs shader-f16
 * for f16, which software adapters lack.
 */
const runEmbedding = async (rounds: number, launches: number): Promise<readonly Row[]> =>
  valueRows(library, await device, embedding("F", "f32", "i32"), rounds, launches);

/** Returns the rows of the scatter with a number in {@link scatters}. */
async function runScatter(number: number, rounds: number): Promise<ScatterRows> {
  const make = scatters[number];
  if (make === undefined) throw new Error(`no scatter ${number}`);
  return scatterRows(await device, make(), rounds);
}

Object.assign(globalThis, { adapterInfo: adapter, runWorkload: run, runEmbedding, runScatter });
