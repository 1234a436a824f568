/** What a form can be: by intervals, over loops, and the bounds of index values that follow from it. */
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
