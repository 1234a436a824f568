/**
 * Parallel loops over the dims of the grid. Up to three loops take a dim each and nothing is divided; more of
 * them, or trips beyond the device's workgroups per dim, are numbered through and folded over x and y.
 */
import type { ParallelLoop, ParallelNest } from "../../ir/task/index.js";
import type { WgslLimits } from "../../ir/wgsl-limits.js";

/**
 * Grid of workgroups of a launch. `folded`: true if consecutive tasks are spread over x and y; false if each
 * parallel loop has a grid dim.
 */
export interface WorkgroupGrid {
  readonly dispatch: readonly [x: number, y: number, z: number];
  readonly folded: boolean;
}

/**
 * True if the parallel loops do not fit into the three grid dims. Consecutive tasks are then spread over the
 * grid.
 */
export const isFolded = ({ loops, tasks }: ParallelNest, limits: WgslLimits): boolean =>
  tasks > 0 &&
  (loops.length > 3 || loops.some(({ trips }) => trips > limits.maxComputeWorkgroupsPerDimension));

/**
 * Returns the numbers of workgroups along x, y and z; undefined if a folded grid is too small for all tasks.
 * `max`: maximum number of workgroups along a dim.
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
