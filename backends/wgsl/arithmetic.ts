/** Arithmetic of the values of a kernel: the stated bits, or the device's own. */

/**
 * Arithmetic of values: steps with proofs alone as the device has them, or all of them, whatever bits that
 * gives.
 */
export const arithmetics = ["proved", "native"] as const;
/** Arithmetic of values. */
export type Arithmetic = (typeof arithmetics)[number];

/** Text that says what native arithmetic leaves to a device. */
export const nativeArithmetic =
  "arithmetic native: f32 as the device has it; WGSL fixes neither the direction of rounding, nor subnormals, nor whether a product and a sum are fused";
