/** Kernels of WebGPU targets, whose text may be refused where the program is not. */
import { maxSizes, CompileError, deviceLimits, dynamicSymbols, targetFacts } from "../../ir/index.js";
import { raisedLimits, type WgslKernel } from "../../backends/webgpu/index.js";
import type { CompileResult, Kernel } from "./compile.js";

/**
 * Returns the WGSL of a kernel for a WebGPU target under the limits of the target's devices, with symbols at
 * their largest sizes. Undefined for other targets. Throws a CompileError (TC502) if the program cannot be
 * expressed.
 */
function textOf(kernel: Kernel): WgslKernel | undefined {
  const { target, access } = kernel;
  if (!targetFacts[target.kind].runsOnWebgpu) return undefined;
  const symbols = access === undefined ? [] : dynamicSymbols(access);
  const sized = symbols.length === 0 ? kernel : kernel.bind(maxSizes(symbols));
  return sized.wgsl(deviceLimits(target));
}

/**
 * Returns the result of a compilation, or the diagnostics that refuse the WGSL of its kernel on the devices
 * of the target.
 */
export function withText(result: CompileResult): CompileResult {
  if (!result.ok) return result;
  try {
    textOf(result.kernel);
    return result;
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    return { ok: false, diagnostics: thrown.diagnostics };
  }
}

/**
 * Returns the limits above the WebGPU defaults with which a device must be requested to run a kernel. An
 * empty object for other targets and for kernels within the defaults.
 */
export function requestedBy(kernel: Kernel): ReturnType<typeof raisedLimits> {
  const text = textOf(kernel);
  return text === undefined ? {} : raisedLimits(text);
}
