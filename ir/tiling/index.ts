/** What a schedule makes of a gather, whether that is legal and why, and what would be. */
export { paddedBytes, rowBytes, type Footprint, type FootprintPart } from "./footprint.js";
export { type Loop } from "./loops.js";
export {
  lowerGather,
  type GatherClass,
  type GatherLowering,
  type LoweringFacts,
  type Steps,
} from "./lowering.js";
export {
  anyLegal,
  largestGatherDims,
  largestThat,
  nearestLegal,
  pinned,
  replaced,
  smallest,
  smallestArithmetic,
  volume,
  waysOut,
} from "./nearest.js";
export { footprintNotes, noLegalTile, refusals, shapeRefusals, suggestionText } from "./refusals.js";
export {
  gmAllowed,
  isLegal,
  judge,
  pinnedDims,
  requiredView,
  ruleList,
  rules,
  type Rule,
  type RuleId,
  type Verdict,
} from "./rules/index.js";
export { compulsoryBytes, type OperandTraffic, type Traffic } from "./traffic.js";
export { type TiledOperand } from "./tiled.js";
export { Tiling, tilingOf } from "./tiling.js";
