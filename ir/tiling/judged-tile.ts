/** The tile that a verdict is about. */
import { at, type Shape } from "../types.js";
import { pinnedTiles, requiredView } from "./rules/index.js";
import type { Tiling } from "./tiling.js";

/**
 * Returns the tile that the tiling rules check. Each entry of the schedule's tile is clipped to the view
 * (outer tile) and to the extent of its dim. If a profile (version of PyPTO's rules) fixes the entry of a
 * dim, the entry is clipped to {@link requiredView} instead. The entry for reduction elements, if present, is
 * clipped to the reduction tile.
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
