/**
 * Parallel loops over the dims of the grid. Up to three loops take a dim each and nothing is divided; more of them, or
 * trips beyond the device's workgroups per dim, are numbered through and folded over x and y.
 */
import type { ParallelNest } from "../../ir/tasks.js";
import type { WgslLimits } from "./kernel.js";

export interface Grid {
  readonly dispatch: readonly [x: number, y: number, z: number];
  readonly folded: boolean;
}

/** Undefined where the device has no grid for so many tasks. */
export function gridOf({ loops, tasks }: ParallelNest, limits: WgslLimits): Grid | undefined {
  const most = limits.maxComputeWorkgroupsPerDimension;
  if (tasks === 0) return { dispatch: [0, 0, 0], folded: false };
  const trips = loops.map((loop) => loop.trips).reverse();
  if (trips.length <= 3 && trips.every((count) => count <= most)) {
    const [x = 1, y = 1, z = 1] = trips;
    return { dispatch: [x, y, z], folded: false };
  }
  const y = Math.ceil(tasks / most);
  return y > most ? undefined : { dispatch: [Math.ceil(tasks / y), y, 1], folded: true };
}
