/** Kernels of WebGPU targets, whose text may be refused where the program is not. */
import { maxSizes, CompileError, deviceLimits, dynamicSymbols, targetFacts } from "../../ir/index.js";
import { raisedLimits, type WgslKernel } from "../../backends/webgpu/index.js";
import type { CompileResult, Kernel } from "./compile.js";

/**
 * The text of a kernel of a WebGPU target on the target's devices; of open sizes at their most. Undefined for other targets. Throws a
 * CompileError (TC502) where no text is the program.
 */
function textOf(kernel: Kernel): WgslKernel | undefined {
  const { target, access } = kernel;
  if (!targetFacts[target.kind].runsOnWebgpu) return undefined;
  const symbols = access === undefined ? [] : dynamicSymbols(access);
  const sized = symbols.length === 0 ? kernel : kernel.bind(maxSizes(symbols));
  return sized.wgsl(deviceLimits(target));
}

/** Returns a result, or the refusal of the kernel's text on the target's devices. */
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

/** Returns what a device has to be requested with to run a kernel of a WebGPU target: limits that not every device has. */
export function requestedBy(kernel: Kernel): ReturnType<typeof raisedLimits> {
  const text = textOf(kernel);
  return text === undefined ? {} : raisedLimits(text);
}
