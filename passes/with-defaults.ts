/** What a schedule leaves open, by the plain defaults: where a search starts, and what holds beside a tile that is stated. */
import { followedBy, gatheredTable } from "../ir/access.js";
import { outputOf, type AccessFunc } from "../ir/func.js";
import { defaultProfile } from "../ir/profile.js";
import type { Residencies, ResolvedSchedule } from "../ir/schedule.js";
import { defaultsOn } from "../ir/schedule-entries.js";
import type { Target } from "../ir/target.js";
import {
  dataResidency,
  entryLimits,
  pinnedTiles,
  pinnedViews,
  requiredView,
  Tiling,
} from "../ir/tiling/index.js";
import { at } from "../ir/types.js";

/** The plain defaults; the tile starts at the whole output. */
export function withDefaults(func: AccessFunc, residency: Residencies, target: Target): Tiling {
  const { schedule } = func;
  const { profile = defaultProfile, ...stated } = schedule;
  // Elements that are read in global memory are loaded by no full load.
  const inForce = func.sharedDims.length === 0 || dataResidency(func, { residency }) === "ub";
  const extents = outputOf(func).type.shape;
  const fullTile = extents.map((extent) => Math.max(1, extent));
  const { profile: _, ...defaults } = defaultsOn(target);
  const initial: ResolvedSchedule = {
    ...defaults,
    ...(inForce ? { profile } : {}),
    order: defaultOrder(func),
    buffers: 1,
    tile: fullTile,
    view: fullTile,
    ...stated,
    residency,
  };
  const [views, tiles] = [pinnedViews(func, initial), pinnedTiles(func, initial)];
  // Without a view, the tile cuts the whole tensors.
  const reach = entryLimits(func);
  const viewAlong = (_: number, d: number): number => {
    if (!views.includes(d)) return Math.max(1, at(reach, d));
    const required = requiredView(func, d);
    return tiles.includes(d) ? Math.max(required, at(initial.tile, d)) : required;
  };
  const view = schedule.view ?? fullTile.map(viewAlong);
  const tile = schedule.tile ?? fullTile.map((extent, d) => (tiles.includes(d) ? at(view, d) : extent));
  return new Tiling(func, { ...initial, view, tile }, target);
}

/** Dims the data follows come first, so that loops of indices alone can reuse its tile. */
export function defaultOrder(func: AccessFunc): number[] {
  const dataDims = followedBy(func.map, gatheredTable);
  const dims = outputOf(func).type.shape.map((_, d) => d);
  return [...dims.filter((d) => dataDims.has(d)), ...dims.filter((d) => !dataDims.has(d))];
}
