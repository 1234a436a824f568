/** The numbers that the sizes of symbols tell a kernel: members of one small uniform struct, which every size fills anew. */
import { runtimeParamNames, runtimeParamValues } from "../../ir/symbols/dynamic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { hasDynamicTrips, type ParallelNest } from "../../ir/task/index.js";
import type { WorkgroupGrid } from "./grid.js";

/** Names of what a folded grid is made of. */
export const gridSizes = {
  tasks: "tasks",
  columns: "columns",
  trips: (k: number): string => `trips${k}`,
} as const;

/** Names of the numbers: sizes, bounds that they tell, and of a folded grid its tasks. None for a program of numbers. */
export function sizeNames(func: TileFunc, { loops }: ParallelNest, folded: boolean): string[] {
  const trips = loops.flatMap((loop, k) => (hasDynamicTrips(loop) ? [gridSizes.trips(k)] : []));
  const grid = folded && trips.length > 0 ? [gridSizes.tasks, gridSizes.columns, ...trips] : [];
  return [...runtimeParamNames(func), ...grid];
}

/** What these numbers are for a program at some sizes, whose tasks and dispatch are given. */
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
