export { emitOpen, emitText, emitWgsl } from "./emit.js";
export { kernelAt, type OpenKernel } from "./kernel-at.js";
export { planWgsl, type WgslMove, type WgslOptions, type WgslPlan } from "./plan.js";
export { movesOf } from "./moves.js";
export { defaultLimits, type WgslBinding, type WgslKernel, type WgslLimits } from "./kernel.js";
