/**
 * Plain defaults for entries that a schedule leaves absent: the start of a search, and the values for a
 * stated tile.
 */
import { followedBy, gatheredTable, isScatter } from "../ir/access.js";
import type { AccessFunc } from "../ir/func.js";
import { defaultProfile } from "../ir/profile.js";
import type { Residencies, ResolvedSchedule, Schedule } from "../ir/schedule.js";
import { defaultsOn } from "../ir/schedule-entries.js";
import type { Target } from "../ir/target.js";
import {
  dataResidency,
  entryLimits,
  pinnedEntry,
  pinnedTiles,
  pinnedViews,
  requiredView,
  Tiling,
} from "../ir/tiling/index.js";
import { at, type Shape } from "../ir/types.js";

/**
 * Returns a tiling of the user's schedule, completed with `residency` and with fixed defaults, without a
 * search. Along dims whose tile extent a PyPTO rule prescribes, the default tile has that extent. Along all
 * other dims, it has the full extent of the output (of the domain, for a scatter).
 */
export function withDefaults(func: AccessFunc, residency: Residencies, target: Target): Tiling {
  const { schedule } = func;
  const { profile = defaultProfile } = schedule;
  // Elements that are read in global memory are loaded by no full load.
  const inForce =
    func.sharedDims.length === 0 || isScatter(func.map) || dataResidency(func, { residency }) === "ub";
  const extents = func.map.domain;
  const initial: ResolvedSchedule = {
    ...plainSchedule(schedule, { residency, extents, order: defaultOrder(func) }, target),
    ...(inForce ? { profile } : {}),
  };
  const fullTile = extents.map((extent) => Math.max(1, extent));
  const [views, tiles] = [pinnedViews(func, initial), pinnedTiles(func, initial)];
  // Without a view, the tile cuts the whole tensors.
  const reach = entryLimits(func);
  const viewAlong = (_: number, d: number): number => {
    if (!views.includes(d)) return Math.max(1, at(reach, d));
    const required = requiredView(func, d);
    return tiles.includes(d) ? Math.max(required, at(initial.tile, d)) : required;
  };
  const view = schedule.view ?? fullTile.map(viewAlong);
  const tile =
    schedule.tile ?? fullTile.map((extent, d) => (tiles.includes(d) ? pinnedEntry(func, d, view) : extent));
  return new Tiling(func, { ...initial, view, tile }, target);
}

/**
 * Returns the user's schedule without its profile, completed with fixed defaults: one copy of each tile, and
 * a tile and a view of the full `extents`.
 */
function plainSchedule(
  { profile: _, ...stated }: Schedule,
  chosen: Pick<ResolvedSchedule, "residency" | "order"> & { readonly extents: Shape },
  target: Target,
): ResolvedSchedule {
  const { residency, order, extents } = chosen;
  const { profile: __, ...defaults } = defaultsOn(target);
  const full = extents.map((extent) => Math.max(1, extent));
  return { ...defaults, order, buffers: 1, tile: full, view: full, ...stated, residency };
}

/**
 * Returns the output dims in default loop order, outermost first. Dims that the data depends on come first;
 * inner loops can then reuse the loaded data tile. For a scatter the dims ascend.
 */
export function defaultOrder(func: AccessFunc): number[] {
  const dataDims = followedBy(func.map, gatheredTable);
  const dims = func.map.domain.map((_, d) => d);
  // Tasks of a scatter are in no order, and its other loops ascend.
  if (isScatter(func.map)) return dims;
  return [...dims.filter((d) => dataDims.has(d)), ...dims.filter((d) => !dataDims.has(d))];
}
