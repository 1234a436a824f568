/** What a kernel takes of each limit of a device: by it kernels are refused, and devices are requested. */
import { defaultLimits, overLimits, type WgslLimits } from "../../ir/wgsl-limits.js";
import type { WgslKernel } from "./kernel.js";

/** What decides the limits that a kernel takes. */
export type LimitedKernel = Pick<WgslKernel, "bindings" | "dispatch" | "workgroupBytes" | "workgroupSize">;

/** Returns what a kernel takes of each limit: counts, or bytes of its largest buffers. */
export function neededLimits({
  bindings,
  dispatch,
  workgroupBytes,
  workgroupSize: [x, y],
}: LimitedKernel): WgslLimits {
  const uniform = bindings.filter(({ access }) => access === "uniform");
  const storage = bindings.filter(({ access }) => access !== "uniform");
  const max = (of: LimitedKernel["bindings"]): number => Math.max(0, ...of.map(({ bytes }) => bytes));
  return {
    maxBindingsPerBindGroup: bindings.length,
    maxBufferSize: max(bindings),
    maxComputeInvocationsPerWorkgroup: x * y,
    maxComputeWorkgroupSizeX: x,
    maxComputeWorkgroupSizeY: y,
    maxComputeWorkgroupStorageSize: workgroupBytes,
    maxComputeWorkgroupsPerDimension: Math.max(...dispatch),
    maxStorageBufferBindingSize: max(storage),
    maxStorageBuffersPerShaderStage: storage.length,
    maxUniformBufferBindingSize: max(uniform),
    maxUniformBuffersPerShaderStage: uniform.length,
  };
}

/**
 * Returns the limits that a device has to be requested with to run a kernel, as `requestDevice` takes them in `requiredLimits`: those
 * that not every device has.
 */
export const raisedLimits = (kernel: LimitedKernel): Partial<WgslLimits> =>
  overLimits(neededLimits(kernel), defaultLimits);
