/** `run`: a kernel and typed arrays in, typed arrays out, on the backend of choice. */
import { fromHost, stringsOf, toHosts, type GatherData, type TensorData } from "../../backends/index.js";
import { outputOf } from "../../ir/index.js";
import type { SimReport } from "../../backends/sim/index.js";
import type { Kernel } from "./compile.js";
import { runOn, type BackendName, type BackendOptions } from "./backends.js";

export interface RunOptions extends BackendOptions {
  /** Default `sim`. `webgpu` needs a runner: `await createRunner(device)` from tilec/webgpu. */
  readonly backend?: BackendName;
}

/** Throws a RunError (TC601) for an index out of range under policy `error`. */
export async function run(
  kernel: Kernel,
  inputs: GatherData,
  { backend = "sim", ...options }: RunOptions = {},
): Promise<{ readonly outputs: { readonly output: TensorData }; readonly report?: SimReport }> {
  const types = kernel.source ?? kernel.tile;
  const hosts = toHosts(types, inputs);
  const { output, report } = await runOn(backend, kernel, hosts, options);
  const outputs = { output: fromHost(outputOf(types).type, output, stringsOf(hosts)) };
  return report === undefined ? { outputs } : { outputs, report };
}
