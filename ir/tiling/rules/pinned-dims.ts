/** Dims along which a profile, or an operator of PyPTO, pins a view or a tile. */
import { gatheredTable, isScatter } from "../../access.js";
import { inputOf, type AccessFunc } from "../../func.js";
import { defaultProfile, profileOf } from "../../profile.js";
import type { ResolvedSchedule } from "../../schedule.js";
import { at, type Shape } from "../../types.js";
import { writeRulesOf } from "../pypto-writes.js";
import { dataResidency } from "../residency.js";
import type { Tiling } from "../tiling.js";

/**
 * Returns the smallest extent, in elements, that a PyPTO rule allows for a view along a dim that the view
 * must not split. This is the extent of the output (of the domain, for a scatter). If the dim is also a
 * gather dim of the data, the larger of the extents of output and data counts. At least 1, also for an empty
 * dim.
 */
export function requiredView(gather: AccessFunc, dim: number): number {
  const points = at(gather.map.domain, dim);
  const isShared = gather.sharedDims.includes(dim);
  return Math.max(isShared ? at(inputOf(gather, gatheredTable).type.shape, dim) : 1, points, 1);
}

type Reading = Pick<ResolvedSchedule, "profile" | "residency">;

/** Returns the shared dims of a full load; none when the data stays in global memory. */
const loadedDims = (gather: AccessFunc, { residency }: Reading): Shape =>
  dataResidency(gather, { residency }) === "ub" ? gather.sharedDims : [];

/**
 * Returns the innermost dim of an operator that writes whole rows wherever its input is, as a list; an empty
 * list for other operators.
 */
const rowDims = (gather: AccessFunc): Shape =>
  writeRulesOf(gather)?.fullRows === true ? [gather.map.domain.length - 1] : [];

/**
 * Returns the dims along which the schedule's PyPTO profile, or its operator, prescribes a smallest extent of
 * the view ({@link requiredView}); an empty list if there are none.
 */
export const pinnedViews = (gather: AccessFunc, schedule: Reading): Shape => [
  ...rowDims(gather),
  ...(profileOf(schedule).pinsView ? loadedDims(gather, schedule) : []),
];

/**
 * Returns the dims along which a PyPTO profile or a PyPTO operator prescribes the extent of the tile ({@link
 * pinnedEntry}); an empty list if there are none.
 */
export function pinnedTiles(gather: AccessFunc, schedule: Reading): Shape {
  if (!isScatter(gather.map)) return profileOf(schedule).pinsTile ? loadedDims(gather, schedule) : [];
  const operator = writeRulesOf(gather);
  const { profile = defaultProfile } = schedule;
  if (operator?.fullRows === true) return rowDims(gather);
  const pins = operator === undefined ? profileOf(schedule).pinsTile : operator.pinsTile.includes(profile);
  return pins ? loadedDims(gather, schedule) : [];
}

/**
 * Returns the extent of a tile along a dim of {@link pinnedTiles}, in elements, under a legal `view`. For a
 * gather, this is the view's extent. For a scatter, it is the smallest extent that the rule allows ({@link
 * requiredView}).
 */
export const pinnedEntry = (gather: AccessFunc, dim: number, view: Shape): number =>
  isScatter(gather.map) ? requiredView(gather, dim) : at(view, dim);

/**
 * Returns the free dims of the output (of the domain, for a scatter): dims along which no PyPTO profile or
 * operator prescribes the extent of the tile. A tile may be smaller than the tensor along a free dim.
 */
export function freeDims({
  gather,
  schedule,
  extents,
}: Pick<Tiling, "gather" | "schedule" | "extents">): Shape {
  const pins = pinnedTiles(gather, schedule);
  return extents.map((_, d) => d).filter((d) => !pins.includes(d));
}
