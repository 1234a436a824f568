/** Flags of the specification; the global `GPUBufferUsage` exists in browsers alone. */

export const mapReadUsage = 1;
export const copySrcUsage = 4;
export const copyDstUsage = 8;
export const uniformUsage = 64;
export const storageUsage = 128;

/** The flag of `GPUShaderStage.COMPUTE`. */
export const computeStage = 4;
