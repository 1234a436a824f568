/** tilec/webgpu: runs kernels on a GPUDevice. */
export { webgpuBackend } from "./backend.js";
export type { GpuBuffers } from "./buffers.js";
export { createRunner, type GpuKernel, type LaunchTime, type Runner, type RunnerOptions } from "./runner.js";
export { limitsOf, targetOf } from "./target.js";
export {
  defaultLimits,
  emitWgsl,
  movesOf,
  planWgsl,
  raisedLimits,
  type LimitedKernel,
  type WgslBinding,
  type WgslKernel,
  type WgslLimits,
  type Arithmetic,
  type WgslOptions,
  type WgslPlan,
} from "../wgsl/index.js";
