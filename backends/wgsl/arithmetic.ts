/** Arithmetic of the values of a kernel: the stated bits, or the device's own. */

/**
 * Kinds of f32 arithmetic in a kernel. `proved`: uses the device's operations only in steps for which they
 * are proved to give the bits that the program defines. `native`: uses them in all steps, even if their bits
 * differ.
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
