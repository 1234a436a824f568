/**
 * Parallel loops over the dims of the grid. Up to three loops take a dim each and nothing is divided; more of
 * them, or trips beyond the device's workgroups per dim, are numbered through and folded over x and y.
 */
import type { ParallelLoop, ParallelNest } from "../../ir/task/index.js";
import type { WgslLimits } from "../../ir/wgsl-limits.js";

/**
 * Grid of workgroups. `folded`: true if tasks are numbered and folded over x and y, false if each parallel
 * loop has a dim of the grid.
 */
export interface WorkgroupGrid {
  readonly dispatch: readonly [x: number, y: number, z: number];
  readonly folded: boolean;
}

/**
 * True if tasks are numbered consecutively and folded over the grid, because the loops do not fit into three
 * dims of it.
 */
export const isFolded = ({ loops, tasks }: ParallelNest, limits: WgslLimits): boolean =>
  tasks > 0 &&
  (loops.length > 3 || loops.some(({ trips }) => trips > limits.maxComputeWorkgroupsPerDimension));

/**
 * Returns the number of workgroups along x, y and z. `folded`: as in {@link WorkgroupGrid}. `max`: maximum
 * number along a dim. Undefined if a folded grid cannot hold all tasks.
 */
export function dispatchOf(
  { loops, tasks }: { readonly loops: readonly Pick<ParallelLoop, "trips">[]; readonly tasks: number },
  folded: boolean,
  max: number,
): WorkgroupGrid["dispatch"] | undefined {
  if (tasks === 0) return [0, 0, 0];
  if (!folded) {
    const [x = 1, y = 1, z = 1] = loops.map(({ trips }) => trips).reverse();
    return [x, y, z];
  }
  const y = Math.ceil(tasks / max);
  return y > max ? undefined : [Math.ceil(tasks / y), y, 1];
}
