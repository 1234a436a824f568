/** The tile that a verdict is about. */
import { at, type Shape } from "../types.js";
import { pinnedTiles, requiredView } from "./rules/index.js";
import type { Tiling } from "./tiling.js";

/**
 * Returns the tile that the tiling rules check: the schedule's tile, with a limit on the extent along each
 * dim that is not empty. The limit is the smaller of the view and `entryLimits`, or {@link requiredView} if a
 * PyPTO rule prescribes the tile's extent. An extra extent for the reduction is limited to one chunk of the
 * reduction elements.
 */
export function judgedTile({ gather, schedule, cut, reductionTile }: Tiling): Shape {
  const pins = pinnedTiles(gather, schedule);
  return schedule.tile.map((entry, d) => {
    if (d >= cut.length) return Math.min(entry, reductionTile);
    if (pins.includes(d)) return Math.min(entry, requiredView(gather, d));
    // Without elements, no entry covers less than another.
    return at(cut, d) === 0 ? entry : Math.min(entry, at(cut, d));
  });
}
