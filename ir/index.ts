/**
 * tilec/ir: types, the three levels, text form, tiling rules, verifier, diagnostics, targets. Imports
 * nothing.
 */
export * from "./access.js";
export * from "./addressing.js";
export * from "./attrs.js";
export * from "./clock/index.js";
export * from "./codes.js";
export * from "./counted.js";
export * from "./defined.js";
export * from "./diagnostic.js";
export * from "./entry-of.js";
export * from "./equal.js";
export * from "./framework.js";
export * from "./func.js";
export * from "./intervals/index.js";
export * from "./iteration.js";
export * from "./linear.js";
export * from "./operator.js";
export { attrsFrom, oobOf, oobSpec, type ArgumentsOf } from "./ops/attributes.js";
export * from "./ops/lookup.js";
export {
  expandMasks,
  findOp,
  opDefs,
  resolveSource,
  judgeTypes,
  sourceOp,
  type AttributeKey,
  type Dialect,
  type OpName,
  type SourceOp,
} from "./ops/registry.js";
export {
  axisInRange,
  breakRule,
  checkDType,
  defineOperator,
  inputName,
  inputNames,
  intAttr,
  intsAttr,
  wordAttr,
} from "./ops/op-def.js";
export type {
  AttrSpec,
  CommonName,
  ExpandedInput,
  ExpandedMasks,
  OpDef,
  Operators,
  OpInputs,
  Resolved,
  ResolveResult,
  RuleCode,
} from "./ops/op-def.js";
export { featureLevels, type FeatureLevel } from "./ops/directml.js";
export { operatorsWith } from "./ops/operators-with.js";
export * from "./policy.js";
export * from "./regions.js";
export {
  defaultProfile,
  laterProfiles,
  profileFacts,
  profileName,
  pyptoLevels,
  type PyptoLevel,
} from "./profile.js";
export { formatText, type FormatResult } from "./text/format.js";
export { lex, type Comment, type Lexed, type Token, type TokenKind } from "./text/lex.js";
export { ParseError, TokenReader } from "./text/token-reader.js";
export { printAddend, printForm, printOperand, type Amount, type FormLanguage } from "./text/form-text.js";
export { parseModule, parseSchedule, type ParseResult } from "./text/parse.js";
export {
  printFunc,
  printLinear,
  printMap,
  printModule,
  printRegion,
  printSchedule,
  printStmtHead,
  printTypes,
} from "./text/print.js";
export * from "./schedule.js";
export {
  defaultsOn,
  entryInText,
  givenEntries,
  isResolved,
  scheduleEntries,
  wordsOf,
  type ScheduleEntry,
  type SearchedEntry,
} from "./schedule-entries.js";
export * from "./symbols/index.js";
export * from "./board-figures.js";
export * from "./figure.js";
export * from "./target.js";
export * from "./task/index.js";
export * from "./tile.js";
export * from "./tiling/index.js";
export { dtypeMeant } from "./element-type-names.js";
export * from "./types.js";
export { float8Bits, float8Value } from "./float8.js";
export * from "./unique-names.js";
export * from "./values/index.js";
export {
  defaultLimits,
  formatLimits,
  limitNames,
  overLimits,
  requestedLimits,
  storageBuffersOf,
  type StorageBuffers,
  type WgslLimits,
} from "./wgsl-limits.js";
export { verify, verifyStructure, type Property } from "./verify/index.js";
export { tileFaults } from "./verify/tile-faults.js";
export { markVerified, verifyOnce } from "./verify/verify-once.js";
export { HazardTracker, type HazardAccess, type Race } from "./verify/hazards.js";
