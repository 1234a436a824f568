/** tilec/ir: types, the three levels, text form, verifier, diagnostics, targets. Imports nothing. */
export * from "./access.js";
export * from "./clock/index.js";
export * from "./codes.js";
export * from "./diagnostic.js";
export * from "./equal.js";
export * from "./expr.js";
export * from "./footprint.js";
export * from "./func.js";
export * from "./loops.js";
export * from "./operator.js";
export { findOp, opDefs, resolveSource, type SourceOp } from "./ops/registry.js";
export type { AttrSpec, OpDef, Resolved, ResolveResult } from "./ops/op-def.js";
export { featureLevels, type FeatureLevel } from "./ops/directml.js";
export { parseModule, type ParseResult } from "./text/parse.js";
export {
  printExpr,
  printFunc,
  printMap,
  printModule,
  printRegion,
  printSchedule,
  printStmtHead,
} from "./text/print.js";
export { renderDiagnostic, type RenderOptions } from "./text/render.js";
export * from "./schedule.js";
export * from "./target.js";
export * from "./tasks.js";
export * from "./tile.js";
export * from "./types.js";
export { verify, verifyStructure, type Property } from "./verify/index.js";
export { isParam, pipeOf, ubAccesses, ubBuffers, type UbAccess } from "./verify/accesses.js";
export { HazardTracker, type HazardAccess, type Race } from "./verify/hazards.js";
