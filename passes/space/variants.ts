/** The schedules of one tile: views, orders and buffers that the user left open. */
import { followedBy, gatheredTable } from "../../ir/access.js";
import { greatestCommonDivisor } from "../../ir/linear.js";
import { targetFacts } from "../../ir/target.js";
import { printSchedule } from "../../ir/text/print.js";
import {
  buffersOf,
  pinnedViews,
  replaced,
  streamedOperands,
  type Loop,
  type Tiling,
} from "../../ir/tiling/index.js";
import { limitOf } from "../../ir/tiling/packed.js";
import { alignUp, at, elementCount } from "../../ir/types.js";
import { fits, longestTask } from "./fits.js";

/**
 * Returns the schedules of one tile that take at most `availableUb` bytes of unified buffer (UB). Views and
 * buffers that the user did not set vary. Loop orders vary, as in {@link reordered}, only if the user set the
 * view.
 */
export const variants = (tiling: Tiling, availableUb: number): Tiling[] =>
  (tiling.gather.schedule.view === undefined ? [tiling] : reordered(tiling)).flatMap((nest) =>
    inOrder(nest, availableUb),
  );

/**
 * Returns the schedules with the tile of `tiling`, in all loop orders of {@link reordered}, that take at most
 * `availableUb` bytes of unified buffer (UB). Of schedules with the same loops, views and buffers, only the
 * first is returned. `bothDirections`: true to include also each order with its parallel loops reversed.
 */
export function variantsInEveryOrder(tiling: Tiling, availableUb: number, bothDirections = false): Tiling[] {
  const nests = new Map<string, Tiling>();
  for (const nest of reordered(tiling, bothDirections)) {
    for (const variant of inOrder(nest, availableUb)) {
      const key = nestOf(variant);
      if (!nests.has(key)) nests.set(key, variant);
    }
  }
  return [...nests.values()];
}

const inOrder = (tiling: Tiling, availableUb: number): Tiling[] =>
  [tiling, ...splitViews(tiling)]
    .filter(
      (viewed) => viewed.gather.schedule.view !== undefined || taskElements(viewed) <= longestTask(viewed),
    )
    .flatMap((viewed) => [viewed, ...doubled(viewed, availableUb)])
    .filter((variant) => fits(variant, availableUb));

/**
 * Returns a key that distinguishes the schedules of one tile: the loops in their order, and the other
 * entries.
 */
const nestOf = ({ schedule, loops }: Tiling): string => {
  const nest = loops.map((loop) => `${loop.kind} ${loop.dim} ${loop.mode}`).join();
  const { tile: _, order: __, ...others } = schedule;
  return `${nest}; ${printSchedule(others)}`;
};

/**
 * Returns a tiling, followed by its variants in other loop orders that reuse the loaded data.
 * `bothDirections`: true to add each order also with its parallel loops reversed. Returns only the tiling for
 * a scatter, for an order that the user sets, and for data in global memory if `bothDirections` is false.
 */
export function reordered(tiling: Tiling, bothDirections = false): Tiling[] {
  const { gather, schedule, residency, tile, extents } = tiling;
  const staged = residency === "ub";
  if (gather.schedule.order !== undefined || !(staged || bothDirections)) return [tiling];
  // Tasks of a scatter share nothing, and its other loops have one order.
  if (tiling.scatter !== undefined) return [tiling];
  const dims = followedBy(gather.map, gatheredTable);
  const reuses = (d: number): boolean => staged && !dims.has(d) && at(tile, d) < at(extents, d);
  const orders = orderedSubsets(schedule.order.filter(reuses)).flatMap((last) => {
    // Data's dims stand inside those that are not to be reused along.
    const inner = schedule.order.filter((d) => staged && dims.has(d));
    const outer = schedule.order.filter((d) => !last.includes(d) && !inner.includes(d));
    const parallel = [...outer, ...inner];
    return (bothDirections ? [parallel, [...parallel].reverse()] : [parallel]).map((loops) => [
      ...loops,
      ...last,
    ]);
  });
  const others = orders.filter((order) => order.join() !== schedule.order.join());
  // Of orders with the same nest the first one counts: the plain one, where it is among them.
  return [tiling, ...others.map((order) => tiling.with({ order }))];
}

/**
 * Returns every ordered selection of distinct items, including the empty one. Each selection comes before its
 * own prefixes, for example [1, 2] before [1].
 */
function orderedSubsets(items: readonly number[]): number[][] {
  const grow = (chosen: readonly number[]): number[][] => {
    const longer = items.filter((d) => !chosen.includes(d)).flatMap((d) => grow([...chosen, d]));
    return [...longer, [...chosen]];
  };
  return grow([]);
}

function parallelTasks(tiling: Tiling): number {
  let tasks = 1;
  for (const { dim, kind, mode } of tiling.loops)
    if (mode === "parallel") tasks *= tripsOf(tiling, dim, kind);
  return tasks;
}

/** Iterations of a loop over the tiles of a view, or over the views of a dim. */
const tripsOf = ({ extents, schedule, tile }: Tiling, dim: number, kind: Loop["kind"]): number => {
  const view = Math.min(at(schedule.view, dim), at(extents, dim));
  return kind === "view" ? Math.ceil(at(extents, dim) / view) : Math.ceil(view / at(tile, dim));
};

/** Returns the number of elements of a task, over all the tiles that it takes one after the other. */
const taskElements = (tiling: Tiling): number => elementCount(tiling.extents) / parallelTasks(tiling);

/**
 * Returns the variants of a tiling with double buffers for all, or for some, of the tiles that a loop reloads
 * or stores; the variant with all comes first. A variant may exceed `availableUb` bytes. Empty if the user
 * sets buffers, the target has no double buffers, or no loop changes a tile.
 */
export function doubled(tiling: Tiling, availableUb: number): Tiling[] {
  const { gather, target } = tiling;
  if (gather.schedule.buffers !== undefined || !targetFacts[target.kind].doubleBuffers) return [];
  const streamed = streamedOperands(tiling);
  if (streamed.length === 0) return [];
  const all = tiling.with({ buffers: 2 });
  const { lowering } = all;
  const alike = lowering.cycles === tiling.lowering.cycles && lowering.setup === tiling.lowering.setup;
  if (fits(all, availableUb) && alike) return [all];
  const some = streamed
    .reduce<(typeof streamed)[]>((sets, operand) => [...sets, ...sets.map((set) => [...set, operand])], [[]])
    .filter((set) => set.length > 0 && set.length < streamed.length);
  return [all, ...some.map((set) => tiling.with({ buffers: buffersOf(tiling, set) }))];
}

/**
 * Returns up to two tilings with smaller views, which make more tasks. The views split a serial loop along a
 * dim that only the indices depend on; the list is empty if no loop can be split.
 */
function splitViews(tiling: Tiling): Tiling[] {
  const { gather, schedule, tile, loops, target, extents } = tiling;
  if (gather.schedule.view !== undefined || tiling.residency === "gm" || tiling.scatter !== undefined)
    return [];
  const parallel = parallelTasks(tiling);
  const wanted = Math.max(
    schedule.cores * target.tasksPerCore,
    Math.ceil(elementCount(extents) / longestTask(tiling)),
  );
  const pieces = Math.ceil(wanted / parallel);
  const balanced = alignUp(pieces, schedule.cores / greatestCommonDivisor(parallel, schedule.cores));
  if (balanced === 1) return [];
  const dependsOn = followedBy(gather.map, gatheredTable);
  const pins = pinnedViews(gather, schedule);
  const reused = loops.find(
    ({ mode, dim }) => mode === "serial" && !dependsOn.has(dim) && !pins.includes(dim),
  );
  if (reused === undefined) return [];
  const { dim } = reused;
  const limit = limitOf(tiling, dim);
  const trips = Math.ceil(limit / at(tile, dim));
  const entries = [Math.min(pieces, trips), ...(balanced <= trips ? [balanced] : [])].map(
    (views) => Math.ceil(trips / views) * at(tile, dim),
  );
  return [...new Set(entries)]
    .filter((entry) => entry < limit)
    .map((entry) => tiling.with({ view: replaced(schedule.view, dim, entry) }));
}
