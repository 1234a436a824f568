/** The tiles that a search takes: within UB, and no longer than a task should be. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf } from "../../ir/func.js";
import { keepsOrder, ubCapacity, type Tiling } from "../../ir/tiling/index.js";
import { elementCount, meanBytes } from "../../ir/types.js";

/** Elements of the widest access of a lane. */
const accessElements = ({ gather, target }: Tiling): number =>
  Math.min(4, Math.max(1, target.vectorBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype)));

/** Elements that a task should take at most: lanes stay short, and every core has tasks while all their lanes have work. */
export function longestTask(tiling: Tiling): number {
  // Points that follow one another stay in one task, however many.
  if (tiling.scatter !== undefined) return Infinity;
  const { residency, target, extents } = tiling;
  const max = residency === "gm" || target.lanes > 1 ? target.directElements : Infinity;
  if (target.tasksPerCore === 1) return max;
  const share = Math.ceil(elementCount(extents) / (target.cores * target.tasksPerCore));
  return Math.min(max, Math.max(target.lanes * accessElements(tiling), share));
}

/** True if a tile is within so many bytes of UB, which are at most the budget, and no longer than a task should be. */
export const fits = (tiling: Tiling, availableUb: number): boolean =>
  keepsOrder(tiling) && fitsUb(tiling, availableUb);

/** True if that is so but for the order of a scatter's points, which a larger tile may keep where a smaller one does not. */
export function fitsUb(tiling: Tiling, availableUb: number): boolean {
  if (elementCount(tiling.tile) > longestTask(tiling)) return false;
  const { bytes, planned } = tiling.footprint;
  return Math.max(bytes, planned) <= availableUb;
}

/** Bytes of UB that a chosen tile may take: within the target's safe size, where the smallest tile leaves that choice. */
export function availableUbOf(start: Tiling): number {
  const { target } = start;
  const capacity = ubCapacity(start);
  const safe = start.schedule.ubBytes === target.ubBytes ? Math.min(target.ubSafeBytes, capacity) : capacity;
  return fits(start, safe) ? safe : capacity;
}
