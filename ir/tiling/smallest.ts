/**
 * The smallest tile of a schedule, and the proof when no tile is legal.
 *
 * The footprint grows with every tile entry, so the smallest tile of all decides whether any is legal. Where
 * two copies are asked for, an entry of a dim's whole extent stands apart: no loop moves what is whole, so it
 * may take less than a shorter one.
 */
import { baseFill, gatherDims, gatheredTable, storedDims } from "../access.js";
import { withCommas } from "../counted.js";
import { inputOf, outputOf, type AccessFunc } from "../func.js";
import { largestThat } from "../intervals/intervals.js";
import { alignUp, at, formatShape, sameShape, type Shape } from "../types.js";
import { doubles } from "./copies.js";
import { sumText, ubCapacity } from "./footprint.js";
import { entryUpTo, leastEntry } from "./packed.js";
import {
  holds,
  isLegal,
  judge,
  pinnedEntry,
  pinnedTiles,
  pinnedViews,
  requiredView,
  rules,
} from "./rules/index.js";
import { Tiling } from "./tiling.js";

/**
 * Returns a copy of the extents of a tile or view in which the extent along one dim is replaced by `entry`.
 */
export const replaced = (shape: Shape, dim: number, entry: number): number[] => shape.with(dim, entry);

/**
 * Returns a tiling with the extents of tile and view that the full-load rule requires, and with views that
 * begin at byte boundaries. Returns the same object if nothing changes.
 */
export function pinned(tiling: Tiling): Tiling {
  const { gather, schedule } = tiling;
  const [views, tiles] = [pinnedViews(gather, schedule), pinnedTiles(gather, schedule)];
  const cut = schedule.view.map((entry, d) => entryUpTo(entry, at(tiling.extents, d), leastEntry(gather, d)));
  const view = cut.map((entry, d) => (views.includes(d) ? Math.max(requiredView(gather, d), entry) : entry));
  const tile = schedule.tile.map((entry, d) => (tiles.includes(d) ? pinnedEntry(gather, d, view) : entry));
  const same = sameShape(view, schedule.view) && sameShape(tile, schedule.tile);
  return same ? tiling : tiling.with({ tile, view });
}

/**
 * Returns the tiling whose tile needs the fewest bytes of the unified buffer (UB). `lastEntry`: smallest
 * extent of the tile along the last dim, in elements, for targets that need whole blocks.
 */
export function smallest(tiling: Tiling, lastEntry = 1): Tiling {
  const { extents, schedule } = tiling;
  const last = extents.length - 1;
  const entry = (d: number): number => alignUp(d === last ? lastEntry : 1, leastEntry(tiling.gather, d));
  // Terms that are taken in at once stay as many as they are.
  const reductionEntries = schedule.tile.slice(extents.length);
  const least = pinned(tiling.with({ tile: [...extents.map((_, d) => entry(d)), ...reductionEntries] }));
  if (!doubles(schedule.buffers) || least.footprint.planned <= ubCapacity(least)) return least;
  return extents
    .reduce<Tiling[]>(
      (tiles, extent, d) => [
        ...tiles,
        ...tiles
          .filter(({ tile }) => at(tile, d) < extent)
          .map((other) => other.with({ tile: replaced(other.schedule.tile, d, extent) })),
      ],
      [least],
    )
    .reduce((best, other) => (other.footprint.planned < best.footprint.planned ? other : best));
}

/**
 * True if at least one tile is legal with the schedule's other choices unchanged. `lastEntry`: smallest
 * extent of the tile along the last dim, in elements.
 */
export const anyLegal = (tiling: Tiling, lastEntry = 1): boolean => isLegal(smallest(tiling, lastEntry));

/**
 * Returns, for each gather dim (or a scatter's stored dim), the largest extent of the dim, in elements, for
 * which some tile is legal; at most the dim's present extent. Dims are varied one at a time. Dims without a
 * legal extent are omitted.
 */
export function largestGatherDims(
  tiling: Tiling,
  lastEntry = 1,
): { readonly dim: number; readonly largest: number }[] {
  if (!holds(rules.deviceLimits, tiling)) return [];
  const { gather, schedule, target, scatter } = tiling;
  const { shape } = (scatter === undefined ? inputOf(gather, gatheredTable) : outputOf(gather)).type;
  return (scatter === undefined ? gatherDims(gather.map) : storedDims(gather.map)).flatMap((dim) => {
    const fits = (n: number): boolean => {
      const trial = scatter === undefined ? withGatherDim(gather, dim, n) : withStoredDim(gather, dim, n);
      const sized = new Tiling(trial, schedule, target);
      return anyLegal(sized.with({ view: sized.extents.map((extent) => Math.max(1, extent)) }), lastEntry);
    };
    const largest = largestThat(1, at(shape, dim), fits);
    return largest === undefined ? [] : [{ dim, largest }];
  });
}

/**
 * Returns a copy of a scatter in which the output, and a base that is an input, have extent `extent` along
 * dim `dim`. If the dim is shared, the domain's extent along `dim` is limited to `extent`.
 */
function withStoredDim(scatter: AccessFunc, dim: number, extent: number): AccessFunc {
  const { map } = scatter;
  const hasBase = baseFill(map.write) === undefined;
  const operands = scatter.operands.map((operand, k) => {
    if (operand.role !== "output" && !(hasBase && k === gatheredTable)) return operand;
    return { ...operand, type: { ...operand.type, shape: replaced(operand.type.shape, dim, extent) } };
  });
  const points = map.domain[dim];
  const isShared = scatter.sharedDims.includes(dim) && points !== undefined;
  const domain = isShared ? replaced(map.domain, dim, Math.min(points, extent)) : map.domain;
  return { ...scatter, operands, map: { ...map, domain } };
}

/**
 * Returns a copy of a gather in which the data has extent `extent` along dim `dim`. If the dim is shared, the
 * extents of index tensors and output along `dim` are limited to `extent`.
 */
function withGatherDim(gather: AccessFunc, dim: number, extent: number): AccessFunc {
  const { map } = gather;
  const isShared = gather.sharedDims.includes(dim);
  const domain = isShared ? replaced(map.domain, dim, Math.min(at(map.domain, dim), extent)) : map.domain;
  const operands = gather.operands.map((operand, k) => {
    const { shape } = operand.type;
    if (k !== gatheredTable && !isShared) return operand;
    const to = k === gatheredTable ? extent : Math.min(at(shape, dim), extent);
    return { ...operand, type: { ...operand.type, shape: replaced(shape, dim, to) } };
  });
  return { ...gather, operands, map: { ...map, domain } };
}

/** Returns the tiling with the smallest footprint (bytes of the unified buffer) under the schedule's view. */
export function smallestInView(tiling: Tiling): Tiling {
  const { view } = tiling.schedule;
  const least = smallest(tiling);
  return least.schedule.view === view ? least : least.with({ view });
}

/**
 * Returns a tiling unchanged if the program has a tile, or else the tiling with the smallest tile ({@link
 * smallestInView}).
 */
export const statedOrSmallest = (tiling: Tiling): Tiling =>
  tiling.gather.schedule.tile === undefined ? smallestInView(tiling) : tiling;

/**
 * Returns a text with the bytes of the unified buffer (UB) that the smallest tile needs, by part, and the
 * excess over the budget: `131072 (data) + …`.
 */
export function smallestArithmetic(tiling: Tiling): string {
  const least = smallest(tiling);
  const { bytes, planned, budget } = least.footprint;
  const head = `the smallest tile ${formatShape(least.schedule.tile)} needs ${sumText(least.footprint)} = ${bytes} B`;
  return bytes > ubCapacity(least)
    ? `${head}, over ${budget} B by ${bytes - budget} B`
    : `${head}, ${planned} B with padding and second buffers, over ${budget} B by ${planned - budget} B`;
}

/** First rule that the smallest tile breaks, with numbers and an explanation. */
export interface SmallestRefusal {
  readonly rule: string;
  readonly detail: string;
  readonly meaning?: string | undefined;
}

/** Returns the first rule that the smallest tile breaks; undefined if some tile is legal. */
export function smallestRefusal(tiling: Tiling): SmallestRefusal | undefined {
  const broken = judge(smallestInView(tiling)).find((verdict) => !verdict.pass);
  if (broken === undefined || !broken.rule.startsWith("ub-")) return broken;
  const least = smallest(tiling);
  const { bytes, planned, budget } = least.footprint;
  const isOver = bytes > ubCapacity(least);
  const needed = isOver ? bytes : planned;
  const padding = isOver ? "" : " with padding and second buffers";
  const detail =
    `even the smallest tile ${formatShape(least.schedule.tile)} needs ${withCommas(needed)} B${padding}, ` +
    `over ${withCommas(budget)} B by ${withCommas(needed - budget)} B`;
  return { rule: broken.rule, detail, meaning: broken.meaning };
}

/** Returns the reason why no tile is legal, as a text about the first rule that the smallest tile breaks. */
export function whyNone(tiling: Tiling): string {
  const broken = smallestRefusal(tiling);
  return broken === undefined || broken.rule.startsWith("ub-") ? smallestArithmetic(tiling) : broken.detail;
}
