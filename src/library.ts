/** `run`: a kernel and typed arrays in, typed arrays out, on the backend of choice. */
import { fromHost, toHost, type GatherData, type TensorData } from "../backends/index.js";
import type { SimReport } from "../backends/sim/index.js";
import type { Runner } from "../backends/webgpu/index.js";
import type { Kernel } from "./compile.js";
import { runOn, type BackendName } from "./run.js";

export interface RunOptions {
  /** Default `sim`. */
  readonly backend?: BackendName;
  /** Needed by `webgpu`: `await createRunner(device)` from tilec/webgpu. */
  readonly runner?: Runner;
}

/** Throws a RunError (TC601) for an index out of range under policy `error`. */
export async function run(
  kernel: Kernel,
  inputs: GatherData,
  options: RunOptions = {},
): Promise<{ readonly outputs: { readonly output: TensorData }; readonly report?: SimReport }> {
  const types = kernel.source ?? kernel.tile;
  const data = toHost("data", types.data.type, inputs.data);
  const indices = toHost("indices", types.indices.type, inputs.indices);
  const { output, report } = await runOn(options.backend ?? "sim", kernel, { data, indices }, options.runner);
  const outputs = { output: fromHost(types.output.type, output, data.strings) };
  return report === undefined ? { outputs } : { outputs, report };
}
