/** `run`: a kernel and typed arrays in, typed arrays out, on the backend of choice. */
import {
  checkRunnable,
  outputData,
  toHosts,
  type Fields,
  type GatherData,
  type TensorData,
} from "../../backends/index.js";
import type { SimReport } from "../../backends/sim/index.js";
import { throwIfErrors } from "../../ir/index.js";
import { backendField, backendFields, runOn, type BackendChoice, type BackendOptions } from "./backends.js";
import { checkOptions } from "./check-options.js";
import type { Kernel } from "./compile.js";

/** Options of {@link run}: the backend, and the backend's options. */
export interface RunOptions extends BackendOptions {
  /**
   * Name of a built-in backend, or a backend object of yours. Default: `sim`. `webgpu` needs a runner:
   * `await createRunner(device)` from tilec/webgpu.
   */
  readonly backend?: BackendChoice;
}

const runFields: Fields<RunOptions> = { ...backendFields, backend: backendField };

/**
 * Runs a kernel on typed arrays and resolves to the output, with a simulation report if the backend
 * simulates. Rejects with a CompileError (TC107) for dynamic sizes, or a RunError (TC601) for an index out of
 * range under policy `error`.
 */
export async function run(
  kernel: Kernel,
  inputs: GatherData,
  options: RunOptions = {},
): Promise<{ readonly outputs: { readonly output: TensorData }; readonly report?: SimReport | undefined }> {
  throwIfErrors(checkOptions("run", options, runFields));
  checkRunnable(kernel);
  const { backend = "sim", ...rest } = options;
  const types = kernel.source ?? kernel.tile;
  const hosts = toHosts(types, inputs);
  const result = await runOn(backend, kernel, hosts, rest);
  const outputs = { output: outputData(types, inputs, hosts, result.output) };
  if (!("report" in result)) return { outputs };
  return {
    outputs,
    get report() {
      return result.report;
    },
  };
}
