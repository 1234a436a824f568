/** One call per backend on host tensors, and the comparison that makes them agree bit for bit. */
import {
  checkRunnable,
  checkTensors,
  isObject,
  oneOf,
  type Backend,
  type BackendRun,
  type Fields,
  type HostInputs,
} from "../../backends/index.js";
import { referenceBackend } from "../../backends/reference/index.js";
import { checkedBackend, fastBackend, type SimulateLongOptions } from "../../backends/sim/index.js";
import { refuseThreads, simulateLongFields } from "../../backends/sim/options.js";
import { webgpuBackend, type Runner } from "../../backends/webgpu/index.js";
import { assertNever, CompileError, error, throwIfErrors, type Diagnostic } from "../../ir/index.js";
import { checkOptions } from "./check-options.js";
import type { Kernel } from "./compile.js";

export type { BackendRun } from "../../backends/index.js";

/** The backends that the command line and case files name. */
export const backendNames = ["reference", "sim", "webgpu"] as const;
/** The name of a backend. */
export type BackendName = (typeof backendNames)[number];

/** What `sim` takes, and the runner that `webgpu` needs. */
export interface BackendOptions extends SimulateLongOptions {
  readonly runner?: Runner | undefined;
}

export const backendFields: Fields<BackendOptions> = {
  ...simulateLongFields,
  runner: {
    code: "TC702",
    takes: "a runner: await createRunner(device) of tilec/webgpu",
    holds: (value) => isObject(value) && typeof value["runBytes"] === "function",
  },
};

/** Throws a CompileError for `webgpu` without a runner (TC503), for threads beside the checked executor (TC702). */
function backendFor(name: BackendName, options: BackendOptions = {}): Backend {
  switch (name) {
    case "reference":
      return referenceBackend;
    case "sim":
      if (options.executor === "fast") return fastBackend(options);
      refuseThreads(options);
      return checkedBackend;
    case "webgpu": {
      const { runner } = options;
      if (runner === undefined) throw new CompileError([error("TC503", "no WebGPU device was given")]);
      return webgpuBackend(runner);
    }
    default:
      return assertNever(name);
  }
}

/**
 * Runs a kernel once on one backend. `reference` runs the operator, or what the program's own access map states; `webgpu`
 * compiles a kernel of another target again.
 */
export async function runOn(
  backend: BackendName,
  kernel: Kernel,
  inputs: HostInputs,
  options: BackendOptions = {},
): Promise<BackendRun> {
  throwIfErrors([
    ...checkOptions("runOn", { backend }, { backend: oneOf(backendNames) }, { needs: ["backend"] }),
    ...checkOptions("runOn", options, backendFields),
  ]);
  checkRunnable(kernel);
  checkTensors(kernel.tile, inputs);
  const prepared = await backendFor(backend, options).prepare(kernel);
  try {
    return await prepared.run(inputs, { ...options, report: true });
  } finally {
    prepared.release();
  }
}

/** The first byte at which two outputs differ, as a diagnostic; undefined when they agree. */
export function firstDifference(
  a: { readonly backend: string; readonly output: Uint8Array },
  b: { readonly backend: string; readonly output: Uint8Array },
): Diagnostic | undefined {
  if (a.output.byteLength !== b.output.byteLength) {
    const message = `${a.backend} gives ${a.output.byteLength} bytes, ${b.backend} ${b.output.byteLength}`;
    return error("TC610", message);
  }
  const byte = a.output.findIndex((value, k) => value !== b.output[k]);
  if (byte === -1) return undefined;
  const message = `${a.backend} and ${b.backend} differ at output byte ${byte}: ${a.output[byte]} and ${b.output[byte]}`;
  return error("TC610", message, { data: { byte } });
}
