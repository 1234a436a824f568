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
export {
  anyIndex,
  dimRanges,
  intervalOf,
  largestThat,
  rangesOf,
  staysWithin,
  type Interval,
  type Ranges,
} from "./intervals.js";
export { attempts, boundsOf, iterations, neverNegative, residue, type Judgement } from "./loop-bounds.js";
