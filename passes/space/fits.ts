/** The tiles that a search takes: within UB, and no longer than a task should be. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf } from "../../ir/func.js";
import { keepsOrder, ubCapacity, type Tiling } from "../../ir/tiling/index.js";
import { elementCount, meanBytes } from "../../ir/types.js";

/** Returns the number of elements of the widest access of a lane. */
const accessElements = ({ gather, target }: Tiling): number =>
  Math.min(4, Math.max(1, target.vectorBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype)));

/**
 * Returns the maximum number of output elements that a task should compute; Infinity for a scatter, and if
 * the target sets no limit. The limit keeps the work of each lane short and leaves tasks for every core.
 */
export function longestTask(tiling: Tiling): number {
  // Points that follow one another stay in one task, however many.
  if (tiling.scatter !== undefined) return Infinity;
  const { residency, target, extents } = tiling;
  const max = residency === "gm" || target.lanes > 1 ? target.directElements : Infinity;
  if (target.tasksPerCore === 1) return max;
  const share = Math.ceil(elementCount(extents) / (target.cores * target.tasksPerCore));
  return Math.min(max, Math.max(target.lanes * accessElements(tiling), share));
}

/**
 * True if a tiling takes at most `availableUb` bytes of unified buffer (UB), has a tile of at most {@link
 * longestTask} elements, and preserves a scatter's write order.
 */
export const fits = (tiling: Tiling, availableUb: number): boolean =>
  keepsOrder(tiling) && fitsUb(tiling, availableUb);

/**
 * True if a tiling takes at most `availableUb` bytes of unified buffer (UB) and has a tile of at most {@link
 * longestTask} elements. Unlike {@link fits}, `fitsUb` ignores the write order of a scatter.
 */
export function fitsUb(tiling: Tiling, availableUb: number): boolean {
  if (elementCount(tiling.tile) > longestTask(tiling)) return false;
  const { bytes, planned } = tiling.footprint;
  return Math.max(bytes, planned) <= availableUb;
}

/**
 * Returns the upper limit, in bytes of unified buffer (UB), for a search that starts with the tiling `start`.
 * The limit is the target's `ubSafeBytes` (bytes that no library overwrites) if `start` {@link fits} in these
 * bytes and the schedule keeps the target's UB size. Otherwise the limit is the whole UB capacity of the
 * schedule.
 */
export function availableUbOf(start: Tiling): number {
  const { target } = start;
  const capacity = ubCapacity(start);
  const safe = start.schedule.ubBytes === target.ubBytes ? Math.min(target.ubSafeBytes, capacity) : capacity;
  return fits(start, safe) ? safe : capacity;
}
