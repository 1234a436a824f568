/**
 * The nearest legal schedules, and the proof when there is none.
 *
 * The footprint grows with every tile entry, so a dim's largest legal entry is found by bisection, and the smallest
 * tile of all decides whether any tile is legal.
 */
import { gatherDims } from "../../ir/access.js";
import type { AccessFunc } from "../../ir/func.js";
import type { Profile, Residency, ResolvedSchedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import { at, formatShape, type Shape } from "../../ir/types.js";
import { footprintOf, gmAllowed, isLegal, pinnedDims, requiredView } from "./legality.js";

/** The largest n in [low, high] with `fits(n)`, for a `fits` that is true up to some point; undefined if none. */
export function largestThat(low: number, high: number, fits: (n: number) => boolean): number | undefined {
  if (high < low || !fits(low)) return undefined;
  let [good, bad] = [low, high + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

const replaced = (shape: Shape, dim: number, entry: number): number[] =>
  shape.map((old, d) => (d === dim ? entry : old));

/** The schedule with every pinned dim as the full-load rule wants it. */
export function pinned(func: AccessFunc, schedule: ResolvedSchedule): ResolvedSchedule {
  let { tile, view } = schedule;
  for (const dim of pinnedDims(func, schedule)) {
    const entry = Math.max(requiredView(func, dim), at(view, dim));
    tile = replaced(tile, dim, entry);
    view = replaced(view, dim, entry);
  }
  return { ...schedule, tile, view };
}

/**
 * The tile with the least footprint: 1 along every dim that no rule pins, or `lastEntry` along the last one for
 * machines that want whole blocks there.
 */
export const smallest = (func: AccessFunc, schedule: ResolvedSchedule, lastEntry = 1): ResolvedSchedule =>
  pinned(func, {
    ...schedule,
    tile: schedule.tile.map((_, d) => (d === schedule.tile.length - 1 ? lastEntry : 1)),
  });

/**
 * The nearest legal schedule in each direction, the largest tile first: pinned dims set right, then one dim shrunk
 * to the largest entry that fits; when no single dim suffices, outer dims go to 1 one after the other.
 */
export function nearestLegal(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
): ResolvedSchedule[] {
  const start = pinned(func, schedule);
  if (isLegal(func, start, target)) return [start];
  const pins = pinnedDims(func, schedule);
  const extents = func.output.type.shape;
  const free = extents.map((_, d) => d).filter((d) => !pins.includes(d));
  const clipped = start.tile.map((entry, d) =>
    pins.includes(d) ? entry : Math.max(1, Math.min(entry, at(extents, d), at(start.view, d))),
  );
  const shrink = (tile: Shape, dim: number): ResolvedSchedule | undefined => {
    const entry = largestThat(1, at(tile, dim), (n) =>
      isLegal(func, { ...start, tile: replaced(tile, dim, n) }, target),
    );
    return entry === undefined ? undefined : { ...start, tile: replaced(tile, dim, entry) };
  };
  const single = free.flatMap((dim) => shrink(clipped, dim) ?? []);
  if (single.length > 0) return single.sort((a, b) => volume(b.tile) - volume(a.tile));
  let tile: Shape = clipped;
  for (const dim of free) {
    const found = shrink(tile, dim);
    if (found !== undefined) return [found];
    tile = replaced(tile, dim, 1);
  }
  return [];
}

const volume = (tile: Shape): number => tile.reduce((product, entry) => product * entry, 1);

export const anyLegal = (
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
  lastEntry = 1,
): boolean => isLegal(func, smallest(func, schedule, lastEntry), target);

/**
 * For each gather dim alone, the largest extent for which some tile would still be legal. A paired dim shrinks the
 * index with it, as the rule compares both.
 */
export function largestGatherDims(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
  lastEntry = 1,
): { readonly dim: number; readonly largest: number }[] {
  return gatherDims(func.map).map((dim) => {
    const fits = (n: number): boolean => {
      const trial = withGatherDim(func, dim, n);
      const view = trial.output.type.shape.map((extent) => Math.max(1, extent));
      return anyLegal(trial, { ...schedule, view }, target, lastEntry);
    };
    return { dim, largest: largestThat(1, at(func.data.type.shape, dim), fits) ?? 0 };
  });
}

function withGatherDim(func: AccessFunc, dim: number, extent: number): AccessFunc {
  const cut = <T extends { readonly type: { readonly shape: Shape } }>(value: T, to: number): T => ({
    ...value,
    type: { ...value.type, shape: replaced(value.type.shape, dim, to) },
  });
  const data = cut(func.data, extent);
  if (!func.paired.includes(dim)) return { ...func, data };
  const index = Math.min(at(func.output.type.shape, dim), extent);
  return { ...func, data, indices: cut(func.indices, index), output: cut(func.output, index) };
}

/** Other profiles and residencies under which some tile is legal, each checked, each with such a tile. */
export function waysOut(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
): { readonly profile: Profile; readonly residency: Residency; readonly schedule: ResolvedSchedule }[] {
  const others: { readonly profile: Profile; readonly residency: Residency }[] = [
    { profile: "head", residency: "ub" },
    { profile: schedule.profile, residency: "gm" },
  ];
  return others.flatMap(({ profile, residency }) => {
    if (profile === schedule.profile && residency === schedule.residency) return [];
    if (residency === "gm" && !gmAllowed(func, target)) return [];
    const wide: ResolvedSchedule = {
      ...schedule,
      profile,
      residency,
      tile: func.output.type.shape.map((extent) => Math.max(1, extent)),
      view: func.output.type.shape.map((extent) => Math.max(1, extent)),
    };
    const [legal] = nearestLegal(func, wide, target);
    return legal === undefined ? [] : [{ profile, residency, schedule: legal }];
  });
}

/** The arithmetic of the smallest tile, `data 4096x1xf32 131072 B + …`. */
export function smallestArithmetic(func: AccessFunc, schedule: ResolvedSchedule, target: Target): string {
  const least = smallest(func, schedule);
  const { parts, bytes, budget } = footprintOf(func, least, target);
  const sum = parts.map((part) => `${part.part} ${part.counted} B`).join(" + ");
  return `the smallest tile ${formatShape(least.tile)} needs ${sum} = ${bytes} B, over ${budget} B by ${bytes - budget} B`;
}
