/** The legal schedules nearest to one that is refused. */
import { at, elementCount, sameShape, type Shape } from "../types.js";
import { entryUpTo } from "./packed.js";
import { isLegal, pinnedTiles, tilesInOrder } from "./rules/index.js";
import { pinned, replaced, smallest } from "./smallest.js";
import { TileSpace } from "./tile-space.js";
import type { Tiling } from "./tiling.js";

/**
 * Returns legal tilings that are close to `tiling`, largest tile first. The list is empty if no tile is
 * legal.
 */
export function nearestLegal(tiling: Tiling): Tiling[] {
  const start = pinned(tiling);
  if (isLegal(start)) return [start];
  const { schedule, target } = tiling;
  if (schedule.ubBytes === target.ubBytes && target.ubSafeBytes < target.ubBytes) {
    const safe = legalAround(start.with({ ubBytes: target.ubSafeBytes }));
    if (safe.length > 0) return safe.map((nearest) => nearest.with({ ubBytes: schedule.ubBytes }));
  }
  return legalAround(start);
}

/** Returns the legal tilings nearest to a tiling; an empty list if there is none. */
function legalAround(start: Tiling): Tiling[] {
  const { gather, schedule, extents } = start;
  const space = new TileSpace(start);
  const pins = pinnedTiles(gather, schedule);
  const clipped = schedule.tile.map((entry, d) => {
    if (pins.includes(d) || d >= extents.length) return entry;
    const limit = at(space.limits, d);
    return entryUpTo(Math.max(1, Math.min(entry, limit)), limit, space.step(d));
  });
  const [ordered, ...otherOrders] = tilesInOrder(start.with({ tile: clipped })).map((tile) =>
    legalUpTo(start, space, tile),
  );
  return [...(ordered ?? []), ...otherOrders.flat()].filter(
    (one, k, all) => all.findIndex((other) => sameShape(other.schedule.tile, one.schedule.tile)) === k,
  );
}

/**
 * Returns a few legal tilings with tiles of at most the extents `clipped`, largest tile first. The list is
 * empty if there are none.
 */
function legalUpTo(start: Tiling, space: TileSpace, clipped: Shape): Tiling[] {
  const full = start.with({ tile: clipped });
  if (isLegal(full)) return [full];
  const shrunk = (tile: Shape, d: number): Tiling | undefined => {
    const smaller = space.largest(tile, d, at(tile, d));
    return smaller && start.with({ tile: smaller });
  };
  const single = space.free.flatMap((d) => shrunk(clipped, d) ?? []);
  if (single.length > 0)
    return single.sort((a, b) => elementCount(b.schedule.tile) - elementCount(a.schedule.tile));
  let tile: Shape = clipped;
  for (const d of space.free) {
    const smaller = shrunk(tile, d);
    if (smaller !== undefined) return [smaller];
    tile = replaced(tile, d, space.step(d));
  }
  return [smallest(start)].filter(isLegal);
}
