/**
 * The numbers that the sizes of symbols tell a kernel: members of one small uniform struct, which every size
 * fills anew.
 */
import { runtimeParamNames, runtimeParamValues } from "../../ir/symbols/dynamic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { hasDynamicTrips, type ParallelNest } from "../../ir/task/index.js";
import type { WorkgroupGrid } from "./grid.js";

/**
 * Names of the members of the WGSL struct `sizes` that describe the grid: number of tasks, grid columns, and
 * iterations of parallel loop `k`.
 */
export const gridSizes = {
  tasks: "tasks",
  columns: "columns",
  trips: (k: number): string => `trips${k}`,
} as const;

/**
 * Returns the names of a kernel's runtime parameters: dynamic sizes and bounds that depend on dynamic sizes.
 * `folded`: true if tasks are numbered and distributed over x and y, which adds names for the grid.
 */
export function sizeNames(func: TileFunc, { loops }: ParallelNest, folded: boolean): string[] {
  const trips = loops.flatMap((loop, k) => (hasDynamicTrips(loop) ? [gridSizes.trips(k)] : []));
  const grid = folded && trips.length > 0 ? [gridSizes.tasks, gridSizes.columns, ...trips] : [];
  return [...runtimeParamNames(func), ...grid];
}

/**
 * Returns the values of the runtime parameters `names`, in the same order. `values`: size of each symbol.
 * `loops`, `tasks`, `dispatch`: parallel loops, number of tasks and workgroups per axis, all for the same
 * sizes.
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
