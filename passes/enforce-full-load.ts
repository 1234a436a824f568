/**
 * enforce-full-load: derives the operand tiles and refuses a schedule that cuts a gather dim.
 *
 *   access.gather … {oob = error, paired = [0]}
 *     →
 *   access.gather … {oob = error, paired = [0], data_tile = [3, 2], indices_tile = [3, 2]}
 *
 * Direct data dims follow the tile, gather dims are whole; `strict` and `pages` also want view >= max(input,
 * index) along a paired dim, and `strict` tile = view there. May report TC301, TC304 for a tile of packed
 * elements that starts inside a byte, TC201 for stated tiles that are not the derived ones, and TC906 for a
 * tile entry larger than its extent.
 */
import { error, warning } from "../ir/diagnostic.js";
import { inputsOf, type AccessFunc } from "../ir/func.js";
import { formatEntry } from "../ir/schedule.js";
import { isResolved } from "../ir/schedule-entries.js";
import { judgedTile, refusals, rules, type Tiling } from "../ir/tiling/index.js";
import { at, formatShape, invariant, sameShape } from "../ir/types.js";
import { definePass } from "./pass.js";
import { remedies } from "./remedies.js";

/**
 * Pass that derives the tiles of the operands, and rejects a tile or a view that cuts a gather dim
 * (docs/passes/03-enforce-full-load.md).
 */
export const enforceFullLoad = definePass({
  name: "enforce-full-load",
  summary: "derives operand tiles; refuses a tile or view that cuts a gather dim",
  requires: ["access", "scheduled"],
  ensures: ["full-load"],
  run(func, context) {
    if (func.level !== "access") return func;
    const { schedule } = func;
    invariant(isResolved(schedule), "enforce-full-load runs on a resolved schedule");
    const tiling = context.tilings.of(func, schedule);
    refusals(rules.packedTile, tiling).forEach(context.report);
    refusals(rules.fullLoad, tiling, remedies).forEach(context.report);
    const tiles = inputsOf(func).map((_, table) => at(tiling.operands, table).tile);
    statedOtherwise(func, tiles).forEach(context.report);
    reportLarger(tiling).forEach(context.report);
    return { ...func, tiles };
  },
});

/**
 * Returns an error (TC201) for each input whose tile in the program text differs from the derived tile; an
 * empty list if none differs. `tiles`: the derived tile of each input.
 */
function statedOtherwise(func: AccessFunc, tiles: AccessFunc["tiles"] & object) {
  return inputsOf(func).flatMap(({ role }, table) => {
    const [stated, derived] = [func.tiles?.[table], at(tiles, table)];
    if (stated === undefined || sameShape(stated, derived)) return [];
    const message = `${role}_tile is stated as ${formatShape(stated)}, and the schedule gives ${formatShape(derived)}`;
    return [error("TC201", message, { span: func.opSpan, hint: `${role}_tile = ${formatShape(derived)}` })];
  });
}

/**
 * Returns a warning (TC906) if the schedule's tile is larger along some dim than the view or the tensor; else
 * an empty list.
 */
function reportLarger(tiling: Tiling) {
  const { gather, schedule, tile } = tiling;
  const judged = judgedTile(tiling);
  const larger = judged.findIndex((entry, d) => entry < at(schedule.tile, d));
  if (larger === -1) return [];
  const [stated, covered] = [at(schedule.tile, larger), at(judged, larger)];
  const message =
    larger === tile.length
      ? `tile[r] = ${stated} covers at most ${covered} reduction elements, and is judged as ${covered}`
      : `tile[${larger}] = ${stated} covers at most ${covered} elements, and is judged as ${covered}`;
  const notes = [`judged as tile ${formatEntry(judged)}`];
  return [warning("TC906", message, { span: gather.opSpan, notes })];
}
