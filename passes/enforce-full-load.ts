/**
 * enforce-full-load: derives the operand tiles and refuses a schedule that cuts a gather dim.
 *
 *   access.gather … {oob = error, paired = [0]}
 *     →
 *   access.gather … {oob = error, paired = [0], data_tile = [3, 2], indices_tile = [3, 2]}
 *
 * Direct data dims follow the tile, gather dims are whole; `strict` also wants view >= max(input, index) and
 * tile = view along a paired dim. May report TC301, and TC906 for a tile entry larger than its extent.
 */
import { dataTile, gatherDims, indicesTile } from "../ir/access.js";
import { error, warning } from "../ir/diagnostic.js";
import { clipTile } from "../ir/footprint.js";
import { isResolved } from "../ir/schedule.js";
import { at, formatShape, invariant } from "../ir/types.js";
import { pinnedDims } from "./analysis/legality.js";
import { brokenFullLoad } from "./analysis/refusals.js";
import { definePass } from "./pass.js";

export const enforceFullLoad = definePass({
  name: "enforce-full-load",
  summary: "derives operand tiles; refuses a tile or view that cuts a gather dim",
  requires: ["access", "scheduled"],
  ensures: ["full-load"],
  run(func, context) {
    if (func.level !== "access") return func;
    const { schedule } = func;
    invariant(isResolved(schedule), "enforce-full-load runs on a resolved schedule");
    brokenFullLoad(func, schedule, context.target).forEach(context.report);
    const tile = clipTile(schedule.tile, schedule.view, func.output.type.shape);
    const tiles = {
      data: dataTile(func.map, tile, func.data.type.shape),
      indices: indicesTile(func.map, tile, func.indices.type.shape),
    };
    for (const dim of gatherDims(func.map)) {
      const [given, whole] = [func.tiles?.data[dim], at(tiles.data, dim)];
      if (given !== undefined && given !== whole) {
        context.report(
          error("TC301", `data tile cuts gather dim ${dim}: ${given} of ${whole}`, {
            span: func.opSpan,
            hint: `data_tile = ${formatShape(tiles.data)}`,
          }),
        );
      }
    }
    // Along a pinned dim the rule itself asks for the view's extent.
    const pins = pinnedDims(func, schedule);
    const larger = tile.findIndex(
      (entry, d) => entry < at(schedule.tile, d) && entry > 0 && !pins.includes(d),
    );
    if (larger !== -1) {
      context.report(
        warning(
          "TC906",
          `tile[${larger}] = ${at(schedule.tile, larger)} covers ${at(tile, larger)} elements at most and counts as that`,
          { span: func.opSpan },
        ),
      );
    }
    return { ...func, tiles };
  },
});
