/**
 * The loop nest that a schedule stands for: view loops outside, tile loops inside, both in the schedule's
 * order.
 *
 * Loops that only the indices follow and that come last are serial, so that the data tile in UB is loaded
 * once for all of them; everything outside them is parallel, and one iteration of the parallel loops is a
 * task. A view splits the iteration into tasks whatever the data follows.
 */
import { followedBy, gatheredTable, reductionDim } from "../access.js";
import { at } from "../types.js";
import { dataResidency } from "./residency.js";
import type { TiledGather } from "./tiled.js";

/** Loop that a schedule creates over the views (outer tiles) or over the tiles along one dim. */
export interface Loop {
  /** Output dim of the loop; the dim after the output dims for reduction elements. */
  readonly dim: number;
  readonly kind: "view" | "tile";
  readonly mode: "parallel" | "serial";
  /** Elements a step covers. */
  readonly step: number;
}

/**
 * Returns the loops of a schedule, outermost first: view loops (over outer tiles), tile loops, then the loop
 * over chunks of a reduction. View loops and tile loops are parallel; the chunk loop is serial. One exception
 * applies to data in the unified buffer (UB). The innermost tile loops are then serial, as long as the data
 * does not depend on the dim of the loop.
 */
export function tiledLoops({ gather, schedule, tile, reductionTile, extents }: TiledGather): Loop[] {
  const dims = followedBy(gather.map, gatheredTable);
  const views: number[] = [];
  const tiles: number[] = [];
  for (const d of schedule.order) {
    const [view, extent] = [at(schedule.view, d), at(extents, d)];
    if (view < extent) views.push(d);
    if (at(tile, d) < Math.min(view, extent)) tiles.push(d);
  }
  let serialFrom = tiles.length;
  const fullLoad = dataResidency(gather, schedule) === "ub";
  while (fullLoad && serialFrom > 0 && !dims.has(at(tiles, serialFrom - 1))) {
    serialFrom--;
  }
  return [
    ...views.map((dim) => ({ dim, kind: "view", mode: "parallel", step: at(schedule.view, dim) }) as const),
    ...tiles.map(
      (dim, k) =>
        ({ dim, kind: "tile", mode: k < serialFrom ? "parallel" : "serial", step: at(tile, dim) }) as const,
    ),
    // The terms of an element are taken in by one task, in order.
    ...(reductionTile < (gather.map.reduced?.max ?? 0)
      ? [{ dim: reductionDim(gather.map), kind: "tile", mode: "serial", step: reductionTile } as const]
      : []),
  ];
}

/**
 * Returns the mean trip count of a loop. It is extent / view for a loop over views (outer tiles), and view /
 * tile for a loop over tiles. The quotient is not rounded, so it may be a fraction.
 */
export function meanTrips(
  { dim, kind }: Loop,
  { extents, schedule, tile }: Pick<TiledGather, "extents" | "schedule" | "tile">,
): number {
  const extent = at(extents, dim);
  const view = Math.min(at(schedule.view, dim), extent);
  return kind === "view" ? extent / view : view / at(tile, dim);
}

/**
 * Returns the number of tiles along one output dim; 0 if the extent is 0. `extent`, `view` and `tile` are in
 * elements. Each view (outer tile) is cut to tiles separately, so its last tile may be smaller.
 */
export function tilesAlong(extent: number, view: number, tile: number): number {
  if (extent === 0) return 0;
  const fullViews = Math.floor(extent / view);
  const rest = extent - fullViews * view;
  return fullViews * Math.ceil(view / tile) + Math.ceil(rest / tile);
}

/**
 * Returns the number of views (outer tiles) along a dim; the last view may be shorter. Both arguments are in
 * elements.
 */
export const viewsAlong = (extent: number, view: number): number => Math.ceil(extent / view);
