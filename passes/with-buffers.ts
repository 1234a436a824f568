/** The copies that a schedule keeps beside a tile that is stated. */
import { elementCount } from "../ir/types.js";
import { isLegal, type Tiling } from "../ir/tiling/index.js";
import { clockOf } from "./lowered.js";
import { availableUbOf, fits } from "./space/fits.js";
import { doubled } from "./space/variants.js";

/**
 * Returns the tiling with the copies of its tiles (1, or 2 for double buffering) that take the fewest
 * estimated cycles and fit the unified buffer (UB). Of equally fast choices it has the fewest copies.
 * Unchanged if the user states buffers, the output is empty or the schedule is illegal. Uses at most the
 * target's safe UB size if the tile fits it.
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
