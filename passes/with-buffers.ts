/** The copies that a schedule keeps beside a tile that is stated. */
import { elementCount } from "../ir/types.js";
import { isLegal, type Tiling } from "../ir/tiling/index.js";
import { clockOf } from "./lowered.js";
import { availableUbOf, fits } from "./space/fits.js";
import { doubled } from "./space/variants.js";

/**
 * Returns the variant of a tiling with the fewest estimated cycles: without double buffers, or with double
 * buffers for some or all tiles. Returns the tiling itself if the user sets buffers, the output (the domain,
 * for a scatter) is empty, or the schedule is illegal.
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
