export { emitOpen, emitText, emitWgsl } from "./emit.js";
export { kernelAt, type OpenKernel } from "./kernel-at.js";
export { planWgsl, type WgslMove, type WgslOptions, type WgslPlan } from "./plan.js";
export { beyondLimits } from "./refusals.js";
export { movesOf } from "./moves.js";
export { keysBeside, type WgslBinding, type WgslKernel } from "./kernel.js";
export { neededLimits, raisedLimits, type LimitedKernel } from "./needed-limits.js";
export { defaultLimits, type WgslLimits } from "../../ir/wgsl-limits.js";
