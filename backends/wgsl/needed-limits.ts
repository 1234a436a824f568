/**
 * Device limits that a kernel needs. They decide which kernels are refused, and with which limits devices are
 * requested.
 */
import { defaultLimits, overLimits, type WgslLimits } from "../../ir/wgsl-limits.js";
import type { WgslKernel } from "./kernel.js";

/** Properties of a kernel that determine the necessary device limits. */
export type LimitedKernel = Pick<
  WgslKernel,
  "bindings" | "dispatch" | "before" | "workgroupBytes" | "workgroupSize"
>;

/**
 * Returns, for each WebGPU device limit, the lowest value at which a kernel can run. Limits of buffers and
 * workgroup memory are in bytes; all remaining limits are counts.
 */
export function neededLimits({
  bindings,
  dispatch,
  before = [],
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
    maxComputeWorkgroupsPerDimension: Math.max(...dispatch, ...before.flatMap((step) => step.dispatch)),
    maxStorageBufferBindingSize: max(storage),
    maxStorageBuffersPerShaderStage: storage.length,
    maxUniformBufferBindingSize: max(uniform),
    maxUniformBuffersPerShaderStage: uniform.length,
  };
}

/**
 * Returns the device limits of a kernel that exceed the WebGPU defaults, for `requestDevice` as
 * `requiredLimits`. Limits within the default are absent.
 */
export const raisedLimits = (kernel: LimitedKernel): Partial<WgslLimits> =>
  overLimits(neededLimits(kernel), defaultLimits);
