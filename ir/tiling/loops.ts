/**
 * The loop nest that a schedule stands for: view loops outside, tile loops inside, both in the schedule's order.
 *
 * Loops that only the indices follow and that come last are serial, so that the data tile in UB is loaded once for
 * all of them; everything outside them is parallel, and one iteration of the parallel loops is a task. A view splits
 * the iteration into tasks whatever the data follows.
 */
import { followedBy, gatheredTable, reductionDim } from "../access.js";
import { at } from "../types.js";
import { dataResidency } from "./residency.js";
import type { TiledGather } from "./tiled.js";

/** A loop of the nest that a schedule makes. */
export interface Loop {
  /** Of the output, or behind its dims that of terms. */
  readonly dim: number;
  readonly kind: "view" | "tile";
  readonly mode: "parallel" | "serial";
  /** Elements a step covers. */
  readonly step: number;
}

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

/** Returns the iterations of a loop around whole views, where the last one counts as the part that it is. */
export function meanTrips(
  { dim, kind }: Loop,
  { extents, schedule, tile }: Pick<TiledGather, "extents" | "schedule" | "tile">,
): number {
  const extent = at(extents, dim);
  const view = Math.min(at(schedule.view, dim), extent);
  return kind === "view" ? extent / view : view / at(tile, dim);
}

/** Tiles along one output dim: a view that the tile does not divide ends in a smaller tile. */
export function tilesAlong(extent: number, view: number, tile: number): number {
  if (extent === 0) return 0;
  const fullViews = Math.floor(extent / view);
  const rest = extent - fullViews * view;
  return fullViews * Math.ceil(view / tile) + Math.ceil(rest / tile);
}

export const viewsAlong = (extent: number, view: number): number => Math.ceil(extent / view);
