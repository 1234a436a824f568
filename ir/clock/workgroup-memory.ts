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
 * Number of 16-byte units of a tile for each lane. A workgroup has one lane for this many units, up to the
 * target's number of lanes.
 */
export const unitsOfLane = 4;

/** Elements of those units, of four bytes each. */
const laneElements = 4 * unitsOfLane;

/**
 * Returns the fraction of a core's lanes that can be in flight, 0 to 1. `bytes`: workgroup memory of one
 * workgroup. `tile`: extents of the workgroup's tile, in elements.
 */
export function laneShare(bytes: number, tile: Shape, target: Target): number {
  if (bytes === 0 || !targetFacts[target.kind].runsOnWebgpu) return 1;
  const lanes = Math.min(target.lanes, Math.ceil(elementCount(tile) / laneElements));
  return Math.min(1, (target.laneStorageBytes * lanes) / bytes);
}

/**
 * Returns the factor, at least 1, by which global memory transfers slow down because too few lanes are in
 * flight. `bytes`: workgroup memory of one workgroup. `tile`: extents of the workgroup's tile, in elements.
 */
export const idleFactor = (bytes: number, tile: Shape, target: Target): number =>
  Math.max(1, target.hidingShare / laneShare(bytes, tile, target));

/**
 * Returns the factor, at least 1, by which a tile program's global memory transfers slow down because too few
 * lanes are in flight. The factor is 1 for a program without workgroup memory or without a gather.
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
