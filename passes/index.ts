/** tilec/passes: transformations from function to function, and the pipeline that runs them. Imports ir. */
export { allocateUb } from "./allocate-ub.js";
export { canonicalizeAccess } from "./canonicalize-access.js";
export { defaultPipeline } from "./default-pipeline.js";
export {
  checkPassNames,
  editPipeline,
  isDefaultPipeline,
  parsePipeline,
  type PipelineEdit,
} from "./edit-pipeline.js";
export { enforceFullLoad } from "./enforce-full-load.js";
export { aboveSafe, fitUb } from "./fit-ub.js";
export { hoistLoads } from "./hoist-loads.js";
export { insertSync } from "./insert-sync.js";
export { lowerToTile } from "./lower-to-tile.js";
export { contextFor, definePass, isPass, type Pass, type PassContext } from "./pass.js";
export { clockOf, decided, lowered, dynamicLowered } from "./lowered.js";
export { PassError, runPipeline, type PipelineOptions, type PipelineResult } from "./pipeline.js";
export { gridOf, gridSize, type GridAxis } from "./space/grid.js";
export { ScheduleSpace } from "./space/schedule-space.js";
export { chooseSchedule, compareKeys, tieBreaks, type Tie } from "./choose-schedule.js";
export { residenciesOf, selectTile, spokenOf } from "./select-tile.js";
export {
  flagsTo,
  unpinnedSchedule,
  remedies,
  remedyTo,
  type PinnedEntries,
  type Remedy,
} from "./remedies.js";
export { withBuffers } from "./with-buffers.js";
export { withDefaults } from "./with-defaults.js";
