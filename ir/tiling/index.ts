/** Tilings of gathers: the result of a schedule, its legality with the reasons, and legal alternatives. */
export { buffersOf, copiesOf, doubles, isWrittenInPieces, keptSingle, streamedOperands } from "./copies.js";
export {
  operandRowBytes,
  ubCapacity,
  type Footprint,
  type FootprintEntry,
  type FootprintUse,
} from "./footprint.js";
export { type Loop } from "./loops.js";
export { loweringsOf, type GatherLowering, type LoweringFacts, type Steps } from "./lowering.js";
export { nearestLegal } from "./nearest.js";
export {
  anyLegal,
  largestGatherDims,
  pinned,
  replaced,
  statedOrSmallest,
  smallest,
  smallestArithmetic,
  smallestInView,
  smallestRefusal,
  type SmallestRefusal,
  whyNone,
} from "./smallest.js";
export { TileSpace, type TakesTile } from "./tile-space.js";
export { judgedTile } from "./judged-tile.js";
export { leastEntry } from "./packed.js";
export {
  footprintNotes,
  noLegalTile,
  otherRemedies,
  refusals,
  shapeRefusals,
  type Remedies,
} from "./refusals.js";
export { suggestionText } from "./suggestion-text.js";
export {
  bufferBytes,
  gmAllowed,
  isLegal,
  isLegalApartFromOrder,
  judge,
  keepsOrder,
  freeDims,
  pinnedEntry,
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
  isLookup,
  movableTables,
  residencyChoices,
  readsInGm,
  placed,
  residencyOf,
  shortest,
} from "./residency.js";
export { compulsoryBytes, type OperandTraffic, type Traffic } from "./traffic.js";
export { entryLimits, soleDim, type TiledOperand } from "./tiled.js";
export { isLongerTile, takenSchedule } from "./taken-schedule.js";
export type { ScatterTiling } from "./scatter-tiling.js";
export { compulsoryElements } from "./scatter-traffic.js";
export { frameworkMemory, slotsOf, unequalBlocks, writeRulesOf } from "./pypto-writes.js";
export { honoured, Tiling, Tilings } from "./tiling.js";
export { straddledPages, type Straddled } from "./pages.js";
export { formatSizeVerdict, sizeVerdicts, type SizeVerdict } from "./size-verdicts.js";
