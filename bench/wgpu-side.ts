/**
 * Runs the conformance cases on the WebGPU of this process and prints a line for each, as JSON. bench:wgpu
 * runs it in Deno, whose WebGPU is wgpu: another front end of WGSL than Dawn's, and with lavapipe another
 * driver.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRunner } from "../backends/webgpu/index.js";
import { isSoftwareAdapter } from "../backends/webgpu/software.js";
import { defined } from "../ir/defined.js";
import { packageFile } from "../src/device/package-files.js";
import { readCases } from "../src/formats/cases.js";
import { checkCase } from "../src/testing/check-case.js";
import { asGpu } from "./as-gpu.js";

/**
 * Output line of bench:wgpu with the result of one conformance test case. `kernels` is the class of devices
 * for which the kernels are generated.
 */
export interface WgpuResult {
  readonly kernels: "software" | "GPU";
  readonly file: string;
  readonly id: string;
  readonly status: "pass" | "fail" | "skip";
  readonly message?: string;
}

/**
 * First output line of bench:wgpu: the WebGPU adapter. `software` is true if the adapter is implemented in
 * software.
 */
export interface WgpuAdapter {
  readonly adapter: string;
  readonly software: boolean;
}

const adapter = await navigator.gpu.requestAdapter();
if (adapter === null) throw new Error("no adapter");
const wanted: readonly GPUFeatureName[] = ["shader-f16"];
const names = ["maxBufferSize", "maxStorageBufferBindingSize", "maxStorageBuffersPerShaderStage"] as const;
const device = await adapter.requestDevice({
  requiredFeatures: wanted.filter((feature) => adapter.features.has(feature)),
  requiredLimits: Object.fromEntries(names.map((name) => [name, adapter.limits[name]])),
});
const software = isSoftwareAdapter(device.adapterInfo);
const first: WgpuAdapter = { adapter: adapter.info.description, software };
console.log(JSON.stringify(first));
const runners = [
  ["software", await createRunner(device)],
  ["GPU", await createRunner(asGpu(device))],
] as const;
const folder = packageFile("test/conformance/cases/");
for (const file of readdirSync(folder).sort())
  for (const test of readCases(readFileSync(folder + file, "utf8"), file))
    for (const [kernels, runner] of software ? runners : runners.slice(1)) {
      const [result] = await checkCase(test, ["webgpu"], { runner });
      const { status = "skip", message } = result ?? {};
      const line: WgpuResult = {
        kernels,
        file,
        id: test.id,
        status,
        ...defined({ message }),
      };
      console.log(JSON.stringify(line));
    }
