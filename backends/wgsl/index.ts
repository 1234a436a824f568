export { emitWgsl, type WgslOptions } from "./emit.js";
export { defaultLimits, type WgslBinding, type WgslKernel, type WgslLimits } from "./kernel.js";
