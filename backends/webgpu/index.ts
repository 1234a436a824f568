/** tilec/webgpu: runs kernels on a GPUDevice. */
export { createRunner, type GpuBuffers, type GpuKernel, type LaunchTime, type Runner } from "./runner.js";
export { limitsOf, targetOf } from "./target.js";
export {
  defaultLimits,
  emitWgsl,
  type WgslBinding,
  type WgslKernel,
  type WgslLimits,
  type WgslOptions,
} from "../wgsl/index.js";
