/** The copies that a schedule keeps beside a tile that is stated. */
import { elementCount } from "../ir/types.js";
import { isLegal, type Tiling } from "../ir/tiling/index.js";
import { clockOf } from "./lowered.js";
import { availableUbOf, fits } from "./space/fits.js";
import { doubled } from "./space/variants.js";

/**
 * Returns the tiling with the buffers that take the fewest cycles among those that fit; of equally fast ones,
 * the fewest copies. Stays within the target's safe UB size if the tile does. Unchanged if buffers are stated
 * or the schedule is not legal.
 */
export function withBuffers(tiling: Tiling): Tiling {
  if (elementCount(tiling.extents) === 0 || !isLegal(tiling)) return tiling;
  const availableUb = availableUbOf(tiling);
  const others = doubled(tiling, availableUb).filter((other) => fits(other, availableUb));
  return others.reduce(
    (best, other) => (clockOf(other).cycles < clockOf(best).cycles ? other : best),
    tiling,
  );
}
