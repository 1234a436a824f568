/**
 * The numbers that the sizes of symbols tell a kernel: members of one small uniform struct, which every size
 * fills anew.
 */
import { runtimeParamNames, runtimeParamValues } from "../../ir/symbols/dynamic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { hasDynamicTrips, type ParallelNest } from "../../ir/task/index.js";
import type { WorkgroupGrid } from "./grid.js";

/** Names of the members of `sizes` that describe a folded grid. */
export const gridSizes = {
  tasks: "tasks",
  columns: "columns",
  trips: (k: number): string => `trips${k}`,
} as const;

/**
 * Returns the names of the runtime parameters: sizes, the bounds that depend on sizes, and for a folded grid
 * its tasks. Empty for a program without symbols.
 */
export function sizeNames(func: TileFunc, { loops }: ParallelNest, folded: boolean): string[] {
  const trips = loops.flatMap((loop, k) => (hasDynamicTrips(loop) ? [gridSizes.trips(k)] : []));
  const grid = folded && trips.length > 0 ? [gridSizes.tasks, gridSizes.columns, ...trips] : [];
  return [...runtimeParamNames(func), ...grid];
}

/**
 * Returns the values of the numbers `names` for a program at given sizes, whose tasks and dispatch are given.
 */
export function sizeValues(
  names: readonly string[],
  values: Env,
  { loops, tasks }: ParallelNest,
  dispatch: WorkgroupGrid["dispatch"],
): number[] {
  const grid = new Map([
    [gridSizes.tasks, tasks],
    [gridSizes.columns, dispatch[0]],
    ...loops.map(({ trips }, k): [string, number] => [gridSizes.trips(k), trips]),
  ]);
  return runtimeParamValues(names, new Map([...grid, ...values]));
}
