/** What a schedule makes of a gather, whether that is legal and why, and what would be. */
export { buffersOf, copiesOf, doubles, isWrittenByParts, keptSingle, streamedOperands } from "./copies.js";
export {
  operandRowBytes,
  ubCapacity,
  type Footprint,
  type FootprintPart,
  type PartUse,
} from "./footprint.js";
export { type Loop } from "./loops.js";
export { waysOf, type GatherLowering, type LoweringFacts, type Steps } from "./lowering.js";
export {
  anyLegal,
  largestEntry,
  largestGatherDims,
  nearestLegal,
  pinned,
  replaced,
  ownOrSmallest,
  smallest,
  smallestArithmetic,
  smallestInView,
  whyNone,
} from "./nearest.js";
export { judgedTile } from "./judged-tile.js";
export { leastEntry } from "./packed.js";
export {
  footprintNotes,
  noLegalTile,
  otherWaysOut,
  refusals,
  shapeRefusals,
  suggestionText,
  type WaysOut,
} from "./refusals.js";
export {
  bufferBytes,
  gmAllowed,
  isLegal,
  judge,
  freeDims,
  pinnedTiles,
  pinnedViews,
  requiredView,
  ruleList,
  rules,
  type Rule,
  type RuleId,
  type RuleVerdict,
} from "./rules/index.js";
export {
  dataResidency,
  isLookedUp,
  movableTables,
  openResidencies,
  readsInGm,
  placed,
  residencyOf,
  shortest,
} from "./residency.js";
export { compulsoryBytes, type OperandTraffic, type Traffic } from "./traffic.js";
export { entryLimits, soleDim, type TiledOperand } from "./tiled.js";
export { isLongerTile, takenSchedule } from "./taken-schedule.js";
export { honoured, Tiling, Tilings } from "./tiling.js";
export { straddledPages, type Straddled } from "./pages.js";
export { formatSizeVerdict, sizeVerdicts, type SizeVerdict } from "./size-verdicts.js";
