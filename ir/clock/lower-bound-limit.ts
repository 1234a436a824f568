/** Lower bound on the cycles of a program, and the part of the machine that sets it. */

/**
 * Limits that may set a lower bound. They are bytes over bandwidth, DMA transfers, work of the vector unit,
 * work of the scalar unit, and the start of tasks.
 */
export const lowerBoundLimits = ["global memory", "dma", "vector", "scalar", "launch"] as const;
/**
 * Part of the machine that sets the lower bound on a program's cycles. A kind of machine without such a part
 * does not use its name.
 */
export type LowerBoundLimit = (typeof lowerBoundLimits)[number];

/** Lower bound on the cycles of every schedule, and the limit that sets it. */
export interface LowerBound {
  readonly cycles: number;
  readonly limit: LowerBoundLimit;
}

/**
 * Factor just below 1 on shares of work. It keeps a bound that is a whole number of cycles from being rounded
 * up to the next.
 */
export const extent = 1 - 2 ** -40;
