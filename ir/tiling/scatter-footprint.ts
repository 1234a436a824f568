/**
 * The footprint of a scatter: its tiles in UB, the boxes of the base that it copies, and what PyPTO's own
 * count has beside them.
 */
import { keyOf } from "../func.js";
import { at } from "../types.js";
import {
  footprintEntry,
  footprintWith,
  type Footprint,
  type FootprintEntry,
  type FootprintUse,
} from "./footprint.js";
import type { ScatterTile } from "./scatter-tile.js";
import type { ScatterTiling } from "./scatter-tiling.js";

/**
 * Returns the bytes of the unified buffer (UB) that a scatter's tile needs: the parts, the total and the
 * budget.
 */
export function scatterFootprint(tiling: ScatterTiling): Footprint {
  const { scatter, schedule } = tiling;
  const { budgetRule: rule, ubBytes: budget } = schedule;
  const entryOf = (name: string, use: FootprintUse, tile: Omit<ScatterTile, "operand">): FootprintEntry =>
    footprintEntry({ part: name, dtype: tile.dtype, tile: tile.shape }, use, tile.rowBytes, rule);
  const entries = [
    ...tiling.tiles.map((tile) =>
      entryOf(keyOf(at(scatter.operands, tile.operand)), { operand: tile.operand }, tile),
    ),
    ...tiling.copies.map((copy) => entryOf("copy of the base", "added", copy)),
    ...tiling.counted.map((tile) => entryOf(tile.name, "scratch", tile)),
  ];
  return footprintWith(entries, [], { rule, budget });
}
