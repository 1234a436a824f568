/** One call per backend on host tensors, and the comparison that makes them agree bit for bit. */
import { CompileError, error, type Diagnostic } from "../../ir/index.js";
import type { HostInputs } from "../../backends/index.js";
import { reference } from "../../backends/reference/index.js";
import { simulateBytesLong, type SimReport, type SimulateLongOptions } from "../../backends/sim/index.js";
import type { Runner } from "../../backends/webgpu/index.js";
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

/** Runs a kernel on one backend. On `webgpu` an Ascend kernel is compiled again for the runner's device. */
export async function runOn(
  backend: BackendName,
  kernel: Kernel,
  inputs: HostInputs,
  options: BackendOptions = {},
): Promise<BackendRun> {
  switch (backend) {
    case "reference": {
      if (kernel.resolved === undefined) {
        const message = `reference runs operators, and @${kernel.name} began below the source level`;
        throw new CompileError([error("TC702", message, { hint: "run it on sim" })]);
      }
      return { output: reference(kernel.resolved, inputs) };
    }
    case "sim":
      return simulateBytesLong(kernel, inputs, options);
    case "webgpu": {
      const { runner } = options;
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
