/**
 * The schedules worth weighing for a gather: along each output dim a number of tile entries that grows with the logarithm of
 * its extent, and for each tile the views, orders and buffers that the user left open.
 */
import { followedBy, gatheredTable } from "../ir/access.js";
import { inputOf } from "../ir/func.js";
import { greatestCommonDivisor } from "../ir/linear.js";
import { targetFacts } from "../ir/target.js";
import { printSchedule } from "../ir/text/print.js";
import {
  buffersOf,
  freeDims,
  leastEntry,
  pinnedViews,
  replaced,
  smallestInView,
  streamedOperands,
  type Loop,
  ubCapacity,
  type Tiling,
} from "../ir/tiling/index.js";
import { alignUp, at, elementCount, meanBytes, type Shape } from "../ir/types.js";

/** The schedules that are worth weighing from one starting point. */
export interface Candidates {
  /** The smallest tile, with every pinned dim as its rule wants it. */
  readonly start: Tiling;
  /** What a tile covers at most along each output dim. */
  readonly limits: Shape;
  /** Output dims that a tile may cut, outermost first. */
  readonly free: readonly number[];
  /** Tile entries along each of them, ascending; the last is all that a view leaves. */
  readonly entries: ReadonlyMap<number, readonly number[]>;
  /** What any entry along each of them is a multiple of. */
  readonly multiples: ReadonlyMap<number, number>;
}

/** What a tiling leaves open, as schedules to weigh; what the user pinned stays. */
export function candidates(tiling: Tiling): Candidates {
  const start = smallestInView(tiling);
  const limits = limitsOf(tiling);
  const free = freeDims(tiling).filter((d) => at(limits, d) > 1);
  return {
    start,
    limits,
    free,
    entries: new Map(free.map((d) => [d, entriesOf(d, at(limits, d), tiling)])),
    multiples: new Map(free.map((d) => [d, laneMultiple(d, tiling)])),
  };
}

const limitsOf = ({ extents, schedule }: Tiling): number[] =>
  extents.map((extent, d) => Math.max(1, Math.min(extent, at(schedule.view, d))));

/** Whole blocks along the last dim, by what they hold of the data. */
const someBlocks = [1, 2, 3, 4, 6, 8];

function entriesOf(d: number, limit: number, tiling: Tiling): number[] {
  const { gather, schedule, target, extents } = tiling;
  const entries = new Set<number>();
  for (let n = 1; n < limit; n *= 2) {
    entries.add(n);
    entries.add(3 * n);
  }
  if (d === extents.length - 1) {
    const lanes = Math.max(1, target.blockBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype));
    for (const blocks of someBlocks) entries.add(blocks * lanes);
  }
  // As many tiles as cores, or a few times as many, and a few tiles.
  for (const rounds of [1, 2, 3, 4]) {
    entries.add(shareOf(d, limit, rounds * schedule.cores, tiling));
    entries.add(shareOf(d, limit, rounds + 1, tiling));
  }
  // Rows that are fetched take about as long in each tile: what counts is that no core has one more than others.
  if (tiling.residency === "gm" && targetFacts[target.kind].dmaEngine)
    for (const rounds of [5, 6, 8]) entries.add(shareOf(d, limit, rounds * schedule.cores, tiling));
  const [least, multiple] = [leastRow(d, tiling), laneMultiple(d, tiling)];
  const cut = [...entries].filter((n) => n < limit && n >= least && n % multiple === 0);
  return [...cut.sort((a, b) => a - b), limit];
}

/** What entries are multiples of, so that tiles start at bytes, and start and end where accesses of lanes do. */
function laneMultiple(d: number, { gather, target, extents }: Tiling): number {
  const least = leastEntry(gather, d);
  if (target.lanes === 1 || d < extents.length - 1) return least;
  return Math.max(4, least, target.vectorBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype));
}

/** Elements of a row that lanes read side by side; where data is staged, the budget may leave less. */
function leastRow(d: number, { gather, residency, target, extents }: Tiling): number {
  if (target.lanes === 1 || residency === "ub" || d < extents.length - 1) return 1;
  return target.laneBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype);
}

/** The entry that makes so many tiles of a dim; a little larger where lanes move four neighbours, or whole accesses, at a time. */
export function shareOf(d: number, limit: number, count: number, tiling: Tiling): number {
  const share = Math.max(leastRow(d, tiling), Math.ceil(limit / count));
  if (tiling.target.lanes === 1) return Math.min(limit, alignUp(share, laneMultiple(d, tiling)));
  return Math.min(limit, alignUp(share, Math.max(4, laneMultiple(d, tiling))));
}

/** Elements of the widest access of a lane. */
const accessElements = ({ gather, target }: Tiling): number =>
  Math.min(4, Math.max(1, target.vectorBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype)));

/** Elements that a task should take at most: lanes stay short, and every core has tasks while all their lanes have work. */
function longestTask(tiling: Tiling): number {
  const { residency, target, extents } = tiling;
  const max = residency === "gm" || target.lanes > 1 ? target.directElements : Infinity;
  if (target.tasksPerCore === 1) return max;
  const share = Math.ceil(elementCount(extents) / (target.cores * target.tasksPerCore));
  return Math.min(max, Math.max(target.lanes * accessElements(tiling), share));
}

/** Whether a tile is within so many bytes of UB, which are at most the budget, and no longer than a task should be. */
export function fits(tiling: Tiling, availableUb: number): boolean {
  if (elementCount(tiling.tile) > longestTask(tiling)) return false;
  const { bytes, planned } = tiling.footprint;
  return Math.max(bytes, planned) <= availableUb;
}

/** Bytes of UB that a chosen tile may take: within the target's safe size, where the smallest tile leaves that choice. */
export function availableUbOf(start: Tiling): number {
  const { target } = start;
  const capacity = ubCapacity(start);
  const safe = start.schedule.ubBytes === target.ubBytes ? Math.min(target.ubSafeBytes, capacity) : capacity;
  return fits(start, safe) ? safe : capacity;
}

/**
 * The schedules of one tile within so many bytes of UB: every view and buffers that the user left open, in its own order of
 * loops. Views split the loops that reuse the data's tile; where the user states the view, other orders do.
 */
export const variants = (tiling: Tiling, availableUb: number): Tiling[] =>
  (tiling.gather.schedule.view === undefined ? [tiling] : reordered(tiling)).flatMap((nest) =>
    inOrder(nest, availableUb),
  );

/** Those of `variants`, in every order of loops that makes a nest of its own; with `bothDirections` also for a cache. */
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

/** What tells the schedules of one tile apart: the loops in their order, and the other entries. */
const nestOf = ({ schedule, loops }: Tiling): string => {
  const nest = loops.map((loop) => `${loop.kind} ${loop.dim} ${loop.mode}`).join();
  const { tile: _, order: __, ...others } = schedule;
  return `${nest}; ${printSchedule(others)}`;
};

/**
 * A tiling in its own order of loops, and in those that make other nests: every sequence of loops that only the indices follow
 * may stand last, where it reuses the data's tile. Nests that differ in the order of their parallel loops alone deal the same
 * tasks in another order: for the clock they are one; a cache may tell them apart, for which `bothDirections` has the reverse too.
 */
export function reordered(tiling: Tiling, bothDirections = false): Tiling[] {
  const { gather, schedule, residency, tile, extents } = tiling;
  const staged = residency === "ub";
  if (gather.schedule.order !== undefined || !(staged || bothDirections)) return [tiling];
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

/** Every sequence of some of the items, the longest first and in the given order before others. */
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

/** Elements of a task, of all the tiles that it takes one after the other. */
const taskElements = (tiling: Tiling): number => elementCount(tiling.extents) / parallelTasks(tiling);

/**
 * Two copies of all that is streamed; where these do not fit, or leave the gather a slower lowering, also of some of it. Two
 * cost at most their syncs more than one, so with fewer there is nothing to win elsewhere. Some may not fit.
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
 * Views that split the loops of indices alone: until every core has its tasks and none is too long, and until no core has fewer than
 * others.
 */
function splitViews(tiling: Tiling): Tiling[] {
  const { gather, schedule, tile, loops, target, extents } = tiling;
  if (gather.schedule.view !== undefined || tiling.residency === "gm") return [];
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
  const limit = Math.max(1, Math.min(at(extents, dim), at(schedule.view, dim)));
  const trips = Math.ceil(limit / at(tile, dim));
  const entries = [Math.min(pieces, trips), ...(balanced <= trips ? [balanced] : [])].map(
    (views) => Math.ceil(trips / views) * at(tile, dim),
  );
  return [...new Set(entries)]
    .filter((entry) => entry < limit)
    .map((entry) => tiling.with({ view: replaced(schedule.view, dim, entry) }));
}
