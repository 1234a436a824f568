/** Flags of the specification; the global `GPUBufferUsage` exists in browsers alone. */

/** WebGPU buffer usage flag `MAP_READ`. */
export const mapReadUsage = 1;
/** WebGPU buffer usage flag `COPY_SRC`. */
export const copySrcUsage = 4;
/** WebGPU buffer usage flag `COPY_DST`. */
export const copyDstUsage = 8;
/** WebGPU buffer usage flag `UNIFORM`. */
export const uniformUsage = 64;
/** WebGPU buffer usage flag `STORAGE`. */
export const storageUsage = 128;

/** WebGPU shader stage flag `GPUShaderStage.COMPUTE`. */
export const computeStage = 4;
