/** The copies that a schedule keeps beside a tile that is stated. */
import { elementCount } from "../ir/types.js";
import { isLegal, type Tiling } from "../ir/tiling/index.js";
import { doubled, fits, roomOf } from "./candidates.js";
import { clockOf } from "./lowered.js";

/**
 * The same with the buffers that take the fewest cycles, of those that fit; of as fast ones the fewest copies. Stays within the
 * target's safe size where the tile does. As it is where buffers are stated, and where the schedule is not legal.
 */
export function withBuffers(tiling: Tiling): Tiling {
  if (elementCount(tiling.extents) === 0 || !isLegal(tiling)) return tiling;
  const room = roomOf(tiling);
  const others = doubled(tiling, room).filter((other) => fits(other, room));
  return others.reduce(
    (best, other) => (clockOf(other).cycles < clockOf(best).cycles ? other : best),
    tiling,
  );
}
