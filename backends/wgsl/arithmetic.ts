/** Arithmetic of the values of a kernel: the stated bits, or the device's own. */

/**
 * Kinds of f32 arithmetic in a kernel. `proved`: the device's operations are used only where the bits are
 * proved to be exact. `native`: the device's operations are used everywhere.
 */
export const arithmetics = ["proved", "native"] as const;
/** Kind of f32 arithmetic in a kernel: `proved` or `native`. */
export type Arithmetic = (typeof arithmetics)[number];

/**
 * Text that names the properties of f32 arithmetic that `native` leaves to the device; a comment in kernels.
 */
export const nativeArithmetic =
  "arithmetic native: f32 as the device has it; WGSL fixes neither the direction of rounding, nor subnormals, nor whether a product and a sum are fused";
