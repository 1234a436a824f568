/** What sets the least cycles of a program. */

/** Every one of them: bytes over the bandwidth, transfers, work of the vector or the scalar unit, the start of tasks. */
export const lowerBoundLimits = ["global memory", "dma", "vector", "scalar", "launch"] as const;
/** What sets the least cycles of a program. A kind of machine without such a part does not have the word. */
export type LowerBoundLimit = (typeof lowerBoundLimits)[number];

/** Cycles that no schedule is under, and what sets them. */
export interface LowerBound {
  readonly cycles: number;
  readonly limit: LowerBoundLimit;
}

/** Keeps a whole number of cycles of a bound from being rounded to the next one. */
export const extent = 1 - 2 ** -40;
