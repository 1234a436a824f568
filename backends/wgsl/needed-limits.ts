/**
 * Device limits that a kernel needs. They decide which kernels are refused, and with which limits devices are
 * requested.
 */
import { defaultLimits, overLimits, type WgslLimits } from "../../ir/wgsl-limits.js";
import type { WgslKernel } from "./kernel.js";

/** Properties of a kernel that determine the limits that it needs. */
export type LimitedKernel = Pick<WgslKernel, "bindings" | "dispatch" | "workgroupBytes" | "workgroupSize">;

/** Returns how much a kernel needs of each device limit: counts, or bytes of its largest buffers. */
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
 * Returns the limits that a device must be requested with to run a kernel, as `requiredLimits` of
 * `requestDevice`. Limits that every device has are absent.
 */
export const raisedLimits = (kernel: LimitedKernel): Partial<WgslLimits> =>
  overLimits(neededLimits(kernel), defaultLimits);
