/**
 * tilec/tune: searches over the schedules of a gather, and records of them. Runs in a browser too;
 * `tilec/node` has what measures in Node.
 */
export type { Budget, Shard } from "./cut.js";
export { gpuMeasurer } from "./gpu-measurer.js";
export { localMeasurer, type LocalOptions } from "./local-measurer.js";
export type { MeasuredTask, Measurer, OpenMeasurer } from "./measurer.js";
export type { CachedCandidate, PrunedCount, TuneOptions, TuneTask } from "./options.js";
export { givenRecords, type GivenTimes } from "./records/add.js";
export { bestOf, type BestRecord } from "./records/best.js";
export { cachedCandidates } from "./records/cached.js";
export { mergeRecords } from "./records/merge.js";
export { pinnedTest } from "./records/pin.js";
export {
  candidateRecord,
  gatherHash,
  prunedRecord,
  refusedRecord,
  tableRecord,
  taskHash,
  taskRecord,
  type CandidateRecord,
  type PrunedRecord,
  type RefusedRecord,
  type TaskRecord,
  type TuneRecord,
} from "./records/record.js";
export { replayed } from "./records/replay.js";
export { parseRecords, recordLine, type ParsedRecords } from "./records/text.js";
export * from "./result.js";
export type { MeasureOptions, Measurement } from "./search-ms.js";
export { tuneSizes, type SizeResult, type SizesOptions, type SizesResult } from "./sizes/tune-sizes.js";
export type { Piece, TableRecord } from "../api/pieces.js";
export { taskOf, tune } from "./tune.js";
