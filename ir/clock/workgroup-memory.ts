/**
 * Cost of workgroup memory on a GPU. A core holds fewer workgroups the more memory each takes; below the
 * target's `hidingShare` of its lanes, global memory stands idle while lanes wait for it.
 */
import type { TileFunc } from "../func.js";
import { largestValue } from "../linear.js";
import { ubBuffers } from "../regions.js";
import { targetFacts, type Target } from "../target.js";
import { isGather, statementsOf } from "../task/statements.js";
import { ubBytes } from "../tile.js";
import { elementCount, type Shape } from "../types.js";

/**
 * Number of 16-byte units that each lane processes before a workgroup gets more lanes. It applies if there is
 * work for all lanes that run at once.
 */
export const unitsOfLane = 4;

/** Elements of those units, of four bytes each. */
const laneElements = 4 * unitsOfLane;

/**
 * Returns the share of a core's lanes that are in flight, 0 to 1. `bytes`: workgroup memory of each
 * workgroup.
 */
export function laneShare(bytes: number, tile: Shape, target: Target): number {
  if (bytes === 0 || !targetFacts[target.kind].runsOnWebgpu) return 1;
  const lanes = Math.min(target.lanes, Math.ceil(elementCount(tile) / laneElements));
  return Math.min(1, (target.laneStorageBytes * lanes) / bytes);
}

/**
 * Returns the factor by which idle time lengthens transfers in global memory; at least 1. `bytes`: workgroup
 * memory of each workgroup with this tile.
 */
export const idleFactor = (bytes: number, tile: Shape, target: Target): number =>
  Math.max(1, target.hidingShare / laneShare(bytes, tile, target));

/**
 * Returns the factor by which idle time lengthens a tile program's transfers in global memory; 1 if the
 * program has no workgroup memory or no gather.
 */
export function programIdleFactor(func: TileFunc, target: Target): number {
  const buffers = [...ubBuffers(func).values()];
  const sizes = statementsOf(func).find(isGather)?.stmt.to.sizes;
  if (buffers.length === 0 || sizes === undefined) return 1;
  const bytes = buffers.reduce((sum, buffer) => sum + ubBytes(buffer) * buffer.buffers, 0);
  return idleFactor(
    bytes,
    sizes.map((size) => largestValue(size) ?? 1),
    target,
  );
}
