/** Lower bound on the cycles of a program, and the part of the machine that sets it. */

/**
 * Names of the limits that may determine a lower bound on cycles: global memory bandwidth, DMA transfers,
 * vector unit, scalar unit, and task starts.
 */
export const lowerBoundLimits = ["global memory", "dma", "vector", "scalar", "launch"] as const;
/** Limit that determines the lower bound on a program's cycles; see {@link lowerBoundLimits}. */
export type LowerBoundLimit = (typeof lowerBoundLimits)[number];

/** Lower bound on the cycles of all legal schedules of a program, and the limit that determines the bound. */
export interface LowerBound {
  readonly cycles: number;
  readonly limit: LowerBoundLimit;
}

/**
 * Factor just below 1 that multiplies fractions of work in lower bounds, so that rounding errors cannot raise
 * a bound.
 */
export const extent = 1 - 2 ** -40;
