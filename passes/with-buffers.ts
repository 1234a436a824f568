/** The copies that a schedule keeps beside a tile that is stated. */
import { elementCount } from "../ir/types.js";
import { isLegal, type Tiling } from "../ir/tiling/index.js";
import { clockOf } from "./lowered.js";
import { availableUbOf, fits } from "./space/fits.js";
import { doubled } from "./space/variants.js";

/**
 * Returns a tiling with one or two copies of each operand's tile (two for double buffering), chosen for the
 * fewest estimated cycles. Keeps one copy of each if double buffering is not faster. The copies fit the
 * unified buffer (UB): the target's safe size if the tile fits it, otherwise the capacity. Unchanged if the
 * user states buffers, the output is empty or the schedule is illegal.
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
