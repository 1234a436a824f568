export { emitDynamic, emitText, emitWgsl } from "./emit.js";
export { kernelAt, type DynamicKernel } from "./kernel-at.js";
export { arithmetics, nativeArithmetic, type Arithmetic } from "./arithmetic.js";
export { isNative } from "./value-proofs.js";
export { planWgsl, type WgslMove, type WgslOptions, type WgslPlan } from "./plan.js";
export { pointLanes } from "./scatter-move.js";
export { beyondLimits } from "./refusals.js";
export { movesOf } from "./moves.js";
export { keysWith, type KernelStep, type WgslBinding, type WgslKernel } from "./kernel.js";
export { neededLimits, raisedLimits, type LimitedKernel } from "./needed-limits.js";
export { defaultLimits, type WgslLimits } from "../../ir/wgsl-limits.js";
export {
  kernelStats,
  sectorBytes,
  subgroupLanes,
  type BufferStats,
  type DispatchStats,
  type KernelStats,
} from "./stats/kernel-stats.js";
