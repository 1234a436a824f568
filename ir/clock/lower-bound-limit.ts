/** Lower bound on the cycles of a program, and the part of the machine that sets it. */

/**
 * Names of the limits that may determine a lower bound on cycles: bytes over the bandwidth of global memory,
 * DMA transfers, work of the vector unit, work of the scalar unit, and the start of tasks.
 */
export const lowerBoundLimits = ["global memory", "dma", "vector", "scalar", "launch"] as const;
/**
 * Limit that determines the lower bound on a program's cycles; see {@link lowerBoundLimits}. The name of a
 * unit does not occur for a kind of machine that lacks the unit.
 */
export type LowerBoundLimit = (typeof lowerBoundLimits)[number];

/** Lower bound on the cycles of every schedule of a program, and the limit that determines the bound. */
export interface LowerBound {
  readonly cycles: number;
  readonly limit: LowerBoundLimit;
}

/**
 * Factor just below 1 by which lower bounds multiply shares of work. It prevents a rounding error from
 * raising a bound that is a whole number of cycles to the next number.
 */
export const extent = 1 - 2 ** -40;
