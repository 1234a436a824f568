/** Schedules near a legal one: one tile entry larger or smaller, or the loops the other way round. */
import { at, isLegal, replaced, TileSpace, type Tiling } from "../../ir/index.js";

/**
 * Returns legal schedules that differ from a given schedule in one extent of the tile, made as large as is
 * legal, or in the reversed loop order. If fewer than half of the cores have a task, adds schedules with one
 * extent reduced until each core has a task.
 */
export const neighbourSchedules = (tiling: Tiling): readonly Tiling[] =>
  [
    ...largerTiles(tiling),
    ...(tiling.traffic.tasks * 2 < tiling.schedule.cores ? smallerTiles(tiling) : []),
    tiling.with({ order: [...tiling.schedule.order].reverse() }),
  ].filter((other) => isLegal(other));

/**
 * Returns tilings with one extent of the tile as large as is legal, one tiling for each dim. Dims whose
 * extent a PyPTO rule prescribes, and dims along which the tile cannot grow, have no tiling.
 */
function largerTiles(tiling: Tiling): readonly Tiling[] {
  const space = new TileSpace(tiling);
  return space.free.flatMap((d) => {
    const max = at(space.limits, d);
    const tile = at(tiling.tile, d) < max ? space.largest(tiling.schedule.tile, d, max) : undefined;
    return tile === undefined ? [] : tiling.with({ tile });
  });
}

/**
 * Returns tilings with one extent of the tile reduced until each core has a task. Each dim that a tile may
 * split has two tilings: with the view unchanged, and with the view reduced to the tile.
 */
function smallerTiles(tiling: Tiling): readonly Tiling[] {
  const { schedule, tile, traffic } = tiling;
  const count = Math.ceil(schedule.cores / traffic.tasks);
  return new TileSpace(tiling).free.flatMap((d) => {
    const entry = Math.ceil(at(tile, d) / count);
    const smaller = replaced(schedule.tile, d, entry);
    return [
      tiling.with({ tile: smaller }),
      tiling.with({ tile: smaller, view: replaced(schedule.view, d, entry) }),
    ];
  });
}
