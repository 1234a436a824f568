import { allocateUb } from "./allocate-ub.js";
import { canonicalizeAccess } from "./canonicalize-access.js";
import { enforceFullLoad } from "./enforce-full-load.js";
import { fitUb } from "./fit-ub.js";
import { hoistLoads } from "./hoist-loads.js";
import { insertSync } from "./insert-sync.js";
import { lowerToTile } from "./lower-to-tile.js";
import type { Pass } from "./pass.js";
import { selectTile } from "./select-tile.js";

/**
 * Passes of the default pipeline, in order. Each pass requires properties that earlier passes ensure
 * (docs/passes).
 */
export const defaultPipeline: readonly Pass[] = [
  canonicalizeAccess,
  selectTile,
  enforceFullLoad,
  fitUb,
  lowerToTile,
  hoistLoads,
  allocateUb,
  insertSync,
];
