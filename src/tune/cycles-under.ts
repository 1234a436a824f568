/** Cycles of one schedule of a gather, under the pipeline that candidates are compiled by. */
import {
  cyclesOf,
  isLegal,
  Tiling,
  type AccessFunc,
  type ResolvedSchedule,
  type Target,
} from "../../ir/index.js";
import { clockOf, isDefaultPipeline, type Pass } from "../../passes/index.js";
import { tryCompile } from "../api/compile.js";

/**
 * Returns the estimated cycles of a gather under one schedule. Returns null if the schedule is not legal or a
 * pass refuses the schedule. Throws the errors that a pass throws.
 */
export function cyclesUnder(
  gather: AccessFunc,
  schedule: ResolvedSchedule,
  { target, passes }: { readonly target: Target; readonly passes?: readonly Pass[] },
): number | null {
  if (passes === undefined || isDefaultPipeline(passes)) {
    const tiling = new Tiling(gather, schedule, target);
    return isLegal(tiling) ? clockOf(tiling).cycles : null;
  }
  const result = tryCompile({ ...gather, schedule }, { target, passes });
  return result.ok ? cyclesOf(result.kernel.tile, target).cycles : null;
}
