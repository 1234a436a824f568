/** One call per backend on host tensors, and the comparison that makes them agree bit for bit. */
import { CompileError, error, throwIfErrors, type Diagnostic } from "../../ir/index.js";
import {
  checkKernel,
  checkTensors,
  isObject,
  oneOf,
  type Fields,
  type HostInputs,
} from "../../backends/index.js";
import { reference } from "../../backends/reference/index.js";
import { simulateBytesLong, type SimReport, type SimulateLongOptions } from "../../backends/sim/index.js";
import { simulateLongFields } from "../../backends/sim/options.js";
import type { Runner } from "../../backends/webgpu/index.js";
import { checkOptions } from "./check-options.js";
import type { Kernel } from "./compile.js";

export const backendNames = ["reference", "sim", "webgpu"] as const;
export type BackendName = (typeof backendNames)[number];

export interface BackendRun {
  readonly output: Uint8Array;
  /** `sim` alone. */
  readonly report?: SimReport;
}

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

/** Runs a kernel on one backend. On `webgpu` an Ascend kernel is compiled again for the runner's device. */
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
  checkKernel(kernel);
  checkTensors(kernel.tile, inputs);
  const { runner, ...simulated } = options;
  switch (backend) {
    case "reference": {
      if (kernel.resolved === undefined) {
        const message = `reference runs operators, and @${kernel.name} began below the source level`;
        throw new CompileError([error("TC702", message, { hint: "run it on sim" })]);
      }
      return { output: reference(kernel.resolved, inputs) };
    }
    case "sim":
      return simulateBytesLong(kernel, inputs, simulated);
    case "webgpu": {
      if (runner === undefined) throw new CompileError([error("TC503", "no WebGPU device was given")]);
      return { output: await runner.runBytes(kernel, inputs) };
    }
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
