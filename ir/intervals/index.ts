/**
 * Ranges of linear forms: intervals, bounds over loops, and the bounds of index values that follow from them.
 */
export {
  coordinatesOf,
  withBounds,
  type DynamicMap,
  type DynamicIndex,
  type PlacedCoord,
} from "./index-bounds.js";
export { anyIndex, dimRanges, largestThat, rangesOf, staysWithin } from "./intervals.js";
export { attempts, iterations, neverNegative, type Judgement } from "./loop-bounds.js";
export { rangeOf, residue, type Interval, type Ranges } from "./range.js";
