/** Kernels of WebGPU targets, whose text may be refused where the program is not. */
import { maxSizes, CompileError, deviceLimits, dynamicSymbols, targetFacts } from "../../ir/index.js";
import { raisedLimits, type WgslKernel } from "../../backends/webgpu/index.js";
import type { CompileResult, Kernel } from "./compile.js";

/**
 * Returns the WGSL of a kernel for a WebGPU target, with symbols (dynamic sizes) at the largest sizes;
 * undefined for other targets. Throws a CompileError (TC502) if WGSL cannot express the program or a device
 * limit is exceeded.
 */
function textOf(kernel: Kernel): WgslKernel | undefined {
  const { target, access } = kernel;
  if (!targetFacts[target.kind].runsOnWebgpu) return undefined;
  const symbols = access === undefined ? [] : dynamicSymbols(access);
  const sized = symbols.length === 0 ? kernel : kernel.bind(maxSizes(symbols));
  return sized.wgsl(deviceLimits(target));
}

/**
 * Returns a failed result for a WebGPU kernel that WGSL cannot express or that exceeds a device limit.
 * Returns every other result unchanged.
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
 * Returns the WebGPU limits, by name, that a kernel needs above WebGPU's defaults. The object is empty if the
 * defaults suffice or the target is not WebGPU.
 */
export function requestedBy(kernel: Kernel): ReturnType<typeof raisedLimits> {
  const text = textOf(kernel);
  return text === undefined ? {} : raisedLimits(text);
}
