/** What a schedule leaves open, by the plain defaults: where a search starts, and what holds beside a tile that is stated. */
import { followedBy, gatheredTable } from "../ir/access.js";
import { outputOf, type AccessFunc } from "../ir/func.js";
import type { Residencies, ResolvedSchedule } from "../ir/schedule.js";
import { defaultsOn } from "../ir/schedule-entries.js";
import type { Target } from "../ir/target.js";
import { pinnedDims, requiredView, Tiling } from "../ir/tiling/index.js";
import { at } from "../ir/types.js";

/** The plain defaults; the tile starts at the whole output. */
export function withDefaults(func: AccessFunc, residency: Residencies, target: Target): Tiling {
  const { schedule } = func;
  const extents = outputOf(func).type.shape;
  const whole = extents.map((extent) => Math.max(1, extent));
  const given = schedule.tile ?? whole;
  const open: ResolvedSchedule = {
    ...defaultsOn(target),
    order: defaultOrder(func),
    buffers: 1,
    ...schedule,
    residency,
    tile: given,
    view: schedule.view ?? whole,
  };
  if (schedule.view !== undefined) return new Tiling(func, open, target);
  // Without a view, a tile that covers the index along a pinned dim cuts nothing: it counts as the whole view.
  const pins = pinnedDims(func, open);
  const covers = (d: number): boolean => at(given, d) >= at(whole, d);
  const view = whole.map((extent, d) =>
    pins.includes(d) ? Math.max(requiredView(func, d), at(given, d)) : extent,
  );
  const tile = given.map((entry, d) => (pins.includes(d) && covers(d) ? at(view, d) : entry));
  return new Tiling(func, { ...open, view, tile }, target);
}

/** Dims the data follows come first, so that loops of indices alone can reuse its tile. */
export function defaultOrder(func: AccessFunc): number[] {
  const follows = followedBy(func.map, gatheredTable);
  const dims = outputOf(func).type.shape.map((_, d) => d);
  return [...dims.filter((d) => follows.has(d)), ...dims.filter((d) => !follows.has(d))];
}
