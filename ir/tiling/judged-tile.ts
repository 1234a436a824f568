/** The tile that a verdict is about. */
import { at, type Shape } from "../types.js";
import { pinnedTiles, requiredView } from "./rules/index.js";
import type { Tiling } from "./tiling.js";

/**
 * Returns the tile that the tiling rules check: the schedule's tile, limited to the view and to the extents
 * of the output (of the domain, for a scatter). An extent that the PyPTO rule profile fixes is limited to
 * {@link requiredView} instead. An extent that follows the dims is limited to the reduction elements that one
 * chunk takes.
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
