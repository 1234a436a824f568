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

/** Loop of a schedule along one dim, over the views or over the tiles of a view. */
export interface Loop {
  /**
   * Dim of the output (of the domain, for a scatter); for a loop over a reduction, the number of these dims.
   */
  readonly dim: number;
  readonly kind: "view" | "tile";
  readonly mode: "parallel" | "serial";
  /** Number of elements along the dim that one iteration covers. */
  readonly step: number;
}

/**
 * Returns the loops of a schedule, outermost first: over views, over tiles, and over chunks of a reduction.
 * The loop over chunks is serial. Innermost loops over tiles are serial if all their tiles use the same data
 * in the unified buffer (UB).
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
 * Returns the mean trip count of a loop, which may be a fraction: extent / view for a loop over views, view /
 * tile for a loop over tiles.
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
 * Returns the number of tiles along one dim; 0 for an extent of 0. Every view is split into tiles separately.
 * `extent`, `view`, `tile`: sizes in elements.
 */
export function tilesAlong(extent: number, view: number, tile: number): number {
  if (extent === 0) return 0;
  const fullViews = Math.floor(extent / view);
  const rest = extent - fullViews * view;
  return fullViews * Math.ceil(view / tile) + Math.ceil(rest / tile);
}

/**
 * Returns the number of views along a dim, including a shorter last view. `extent`, `view`: sizes in
 * elements.
 */
export const viewsAlong = (extent: number, view: number): number => Math.ceil(extent / view);
