/**
 * The footprint of a scatter: its tiles in UB, the boxes of the base that it copies, and what PyPTO's own
 * count has beside them.
 */
import { bytesFor, elementCount } from "../types.js";
import { keyOf } from "../func.js";
import type { Footprint, FootprintEntry, FootprintUse } from "./footprint.js";
import type { ScatterTile } from "./scatter-tile.js";
import type { ScatterTiling } from "./scatter-tiling.js";
import { at } from "../types.js";

/**
 * Returns the bytes of the unified buffer (UB) that a scatter's tile needs: the parts, the total and the
 * budget.
 */
export function scatterFootprint(tiling: ScatterTiling): Footprint {
  const { scatter, schedule } = tiling;
  const { budgetRule: rule, ubBytes: budget } = schedule;
  const entryOf = (
    name: string,
    use: FootprintUse,
    tile: Omit<ScatterTile, "operand" | "name">,
  ): FootprintEntry => {
    const { dtype, shape, rowBytes, bytes: padded } = tile;
    const bytes = bytesFor(elementCount(shape), dtype);
    const counted = rule === "full" ? padded : bytes;
    return { part: name, use, dtype, tile: shape, bytes, rowBytes, padded, buffers: 1, counted };
  };
  const entries = [
    ...tiling.tiles.map((tile) =>
      entryOf(keyOf(at(scatter.operands, tile.operand)), { operand: tile.operand }, tile),
    ),
    ...tiling.copies.map((copy) => entryOf("copy of the base", "added", copy)),
    ...tiling.counted.map((tile) => entryOf(tile.name, "scratch", tile)),
  ];
  const sum = (of: (entry: FootprintEntry) => number): number =>
    entries.reduce((total, entry) => total + of(entry), 0);
  return {
    parts: entries,
    written: [],
    bytes: sum(({ counted }) => counted),
    planned: sum(({ padded }) => padded),
    budget,
    rule,
  };
}
