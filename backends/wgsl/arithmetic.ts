/** Arithmetic of the values of a kernel: the stated bits, or the device's own. */

/**
 * Kinds of f32 arithmetic in a kernel. `proved`: the device's operations only for steps that are proved to
 * give the stated bits. `native`: the device's operations for all steps, whatever bits they give.
 */
export const arithmetics = ["proved", "native"] as const;
/** Kind of f32 arithmetic in a kernel: `proved` or `native`. */
export type Arithmetic = (typeof arithmetics)[number];

/**
 * Text that says which properties of f32 arithmetic `native` leaves to the device. It is a comment in
 * kernels.
 */
export const nativeArithmetic =
  "arithmetic native: f32 as the device has it; WGSL fixes neither the direction of rounding, nor subnormals, nor whether a product and a sum are fused";
